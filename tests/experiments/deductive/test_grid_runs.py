import pytest

from skerry.experiments.deductive.grid_runs import PROCEDURAL, TECHNIQUES, GridWorkload


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_nothing_is_missed_without_loss_and_all_but_the_nearest_if_all_is_lost(technique):
    workload = GridWorkload(3)
    assert (workload.measure(technique, 0.0, 1).missed, workload.measure(technique, 0.0, 1).far_off) == (0.0, 0.0)
    found = 1 if technique == PROCEDURAL else 5
    lost = workload.measure(technique, 1.0, 1)
    assert lost.far_off == pytest.approx(1 - found / 9)
    assert lost.missed == pytest.approx(1 - found / 13)


def test_root_is_in_the_middle():
    assert [GridWorkload(side).root for side in (5, 7, 10)] == [12, 24, 55]
