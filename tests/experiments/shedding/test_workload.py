import numpy as np
import pytest

from skerry.experiments.shedding.workload import WINDOW_US, Workload, generate, select
from skerry.kernels.joins.snjoin import Tuples

SMALL = Workload(tuple_count=2_000)


def ways(tuples: Tuples) -> dict[tuple[int, ...], int]:
    """How many values took each way through the streams."""
    order = np.argsort(tuples.keys, kind="stable")
    cuts = np.flatnonzero(np.diff(tuples.keys[order])) + 1
    counts: dict[tuple[int, ...], int] = {}
    for of_value in np.split(tuples.streams[order], cuts):
        way = tuple(of_value.tolist())
        counts[way] = counts.get(way, 0) + 1
    return counts


@pytest.mark.parametrize("workload", [SMALL, Workload(3, 2_000, alpha=2.0), Workload(tuple_count=2_000, variance=15)])
def test_every_stream_has_its_tuples(workload):
    assert np.bincount(generate(workload, 1).streams).tolist() == [2_000] * workload.stream_count


def test_tuples_come_in_order_and_live_for_a_window():
    tuples = generate(SMALL, 1)
    assert (np.diff(tuples.starts) >= 0).all()
    assert (tuples.ends - tuples.starts == WINDOW_US).all()


def test_data_is_the_same_again_with_the_same_seed():
    one, same, other = (generate(SMALL, seed).starts.tolist() for seed in (1, 1, 2))
    assert one == same != other


def test_a_value_is_at_most_once_in_a_stream():
    tuples = generate(SMALL, 3)
    assert len(set(zip(tuples.keys.tolist(), tuples.streams.tolist(), strict=True))) == tuples.keys.size


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_one_tuple_in_ten_is_of_a_value_that_appears_everywhere(alpha):
    found = ways(generate(Workload(tuple_count=2_000, alpha=alpha), 4))
    assert sum(count for way, count in found.items() if len(way) == 5) == 200


def test_values_take_no_more_orders_than_there_are_in_the_list():
    found = ways(generate(SMALL, 5))
    assert len({way for way in found if len(way) > 1}) <= 10
    assert len([way for way in found if len(way) == 5]) == 1


def test_skew_makes_one_order_of_several_the_most_frequent():
    def share(alpha: float) -> float:
        found = ways(generate(Workload(tuple_count=2_000, alpha=alpha, order_count=50), 1))
        several = [count for way, count in found.items() if 1 < len(way) < 5]
        return max(several) / sum(several)

    assert share(0.0) < 0.1 < 0.4 < share(2.0)


def test_values_that_appear_everywhere_do_so_within_a_window():
    tuples = generate(SMALL, 6)
    for value in range(200):
        moments = tuples.starts[tuples.keys == value]
        assert moments[-1] - moments[0] <= WINDOW_US


def test_higher_rate_is_the_same_data_faster():
    slow, fast = (generate(Workload(tuple_count=2_000, rate_hz=rate), 7) for rate in (10.0, 20.0))
    assert np.abs(slow.starts / 2 - fast.starts).max() <= 1
    assert slow.keys.tolist() == fast.keys.tolist()


def test_orders_change_half_way_if_they_drift():
    tuples = generate(Workload(tuple_count=2_000, drifts=True), 8)
    assert len([way for way in ways(tuples) if len(way) == 5]) == 2


def test_values_by_a_normal_law_repeat_around_100():
    keys = generate(Workload(tuple_count=2_000, variance=25), 9).keys
    assert abs(keys.mean() - 100) < 0.5
    assert keys.var() == pytest.approx(25, rel=0.05)


def test_some_tuples_can_be_chosen():
    tuples = generate(SMALL, 1)
    assert select(tuples, slice(3)).rows.tolist() == [0, 1, 2]
