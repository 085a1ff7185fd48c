import pytest

from skerry.experiments.snjoin.clustered_load import find_operation_us, make_clustered
from skerry.experiments.snjoin.distributed_join import PROBINGS, measure_join


@pytest.fixture(scope="module")
def clustered():
    return make_clustered(60, seconds=64)


def test_techniques_that_probe_all_heads_find_the_same(clustered):
    without, mjoin = (measure_join(technique, clustered, 0.0) for technique in ("without", "mjoin"))
    assert without["content_per_s"] == mjoin["content_per_s"]
    assert without["probes"] == pytest.approx(clustered.head_count - 1, rel=0.1)


def test_feedback_probes_less_and_gives_less(clustered):
    without, feedback = (measure_join(technique, clustered, 0.0) for technique in ("without", "feedback"))
    assert all(feedback[name] < without[name] for name in ("probes", "width", "content_per_s", "kbytes_per_s"))


def test_definition_4_to_the_letter_probes_one_head_on_average(clustered):
    assert measure_join("definition4", clustered, 0.0)["probes"] == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("technique", PROBINGS)
def test_nothing_is_dropped_by_heads_that_take_no_time(clustered, technique):
    assert measure_join(technique, clustered, 0.0)["drop_percent"] == 0


def test_heads_that_are_too_slow_drop(clustered):
    assert measure_join("without", clustered, find_operation_us(clustered, 30.0))["drop_percent"] > 10
