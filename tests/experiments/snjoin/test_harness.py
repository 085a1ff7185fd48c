import numpy as np
import pytest

from skerry.experiments.snjoin.harness import Settings, Tally, measure
from skerry.experiments.snjoin.workload import Load
from skerry.model.time import MICROS, seconds


class FixedCost:
    """A technique, and the clock that it is measured by: each tuple takes the same time and has an answer."""

    def __init__(self, cost_s: float) -> None:
        self.cost_s, self.now_s, self.taken = cost_s, 0.0, []

    def take(self, load, chosen):
        self.now_s += self.cost_s * chosen.size
        self.taken.extend(chosen.tolist())
        return chosen

    def tally(self, taken):
        return Tally(answers=taken.size, content=3 * taken.size)

    def clock(self):
        return self.now_s


def regular(rate_hz: int, span_s: int) -> Load:
    """Tuples at equal intervals."""
    times = np.arange(rate_hz * span_s) * (MICROS["SECOND"] // rate_hz)
    return Load(np.zeros(times.size, np.int32), np.zeros(times.size, np.int64), times, seconds(span_s))


def driven(cost_s: float, slowdown: float = 1.0, **settings):
    technique = FixedCost(cost_s)
    warm = seconds(20)
    return technique, measure(
        technique, regular(1_000, 120), Settings(slowdown, warm, slice_size=50, **settings), technique.clock
    )


def test_nothing_is_dropped_by_a_technique_that_keeps_up():
    technique, result = driven(cost_s=0.0005)
    assert result.drop_percent == 0
    assert result.answers_per_s == pytest.approx(1_000, rel=0.01)
    assert technique.taken == sorted(technique.taken)


@pytest.mark.parametrize(("cost_s", "dropped"), [(0.002, 50), (0.004, 75), (0.00125, 20)])
def test_what_there_is_no_time_for_is_dropped(cost_s, dropped):
    _, result = driven(cost_s)
    assert result.drop_percent == pytest.approx(dropped, abs=1)
    assert result.answers_per_s == pytest.approx(1 / cost_s, rel=0.02)


def test_slowdown_counts_like_cost_but_is_not_in_the_processing_time():
    _, result = driven(cost_s=0.0001, slowdown=20)
    assert result.drop_percent == pytest.approx(50, abs=1)
    assert result.processing_us == pytest.approx(100)


def test_content_is_counted_apart_from_answers():
    _, result = driven(cost_s=0)
    assert result.content_per_s == pytest.approx(3 * result.answers_per_s)


def test_tuple_waits_for_those_before_it_in_the_buffer():
    _, small = driven(cost_s=0.002, buffer_size=100)
    _, large = driven(cost_s=0.002, buffer_size=1_000)
    assert small.delay_ms < large.delay_ms < 2 * 1_000 + 200


def test_tuples_are_dropped_from_all_that_wait():
    technique, _ = driven(cost_s=0.002)
    kept = np.bincount(np.array(technique.taken) // 10_000, minlength=12)[2:11]
    assert kept.min() > 4_000
    assert kept.max() < 6_000


def test_what_waits_when_the_load_ends_is_neither_taken_nor_dropped():
    technique, result = driven(cost_s=0)
    assert 120_000 - 1_000 * 0.25 - 1 <= len(technique.taken) < 120_000
    assert result.drop_percent == 0


def test_technique_waits_for_tuples_that_are_far_apart():
    technique = FixedCost(0)
    result = measure(technique, regular(1, 60), Settings(1, 0), technique.clock)
    assert len(technique.taken) == 60
    assert result.delay_ms == pytest.approx(0)
