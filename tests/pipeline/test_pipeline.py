import json
import pickle
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.pipeline.outcome import Outcome, Tally
from skerry.pipeline.pipeline import dead_letter_output
from skerry.pipeline.runtime import never
from skerry.shedding.report import LOSSES
from skerry.sources.source import REJECTS
from tests.fjord.given import MEAN, SCHEMA, SLOW, pipeline

names = st.sampled_from(["a", "b", "c"])
counts = st.integers(0, 100)
outcomes = st.builds(
    Outcome,
    st.dictionaries(names, st.builds(Tally, counts, counts, counts)),
    st.dictionaries(names, st.integers(-50, 50)),
    st.dictionaries(names, counts),
    st.dictionaries(names, st.sampled_from(["too many", "too much"])),
    st.dictionaries(names, st.dictionaries(names, counts)),
    st.dictionaries(names, st.dictionaries(names, counts)),
    st.dictionaries(names, st.dictionaries(names, counts)),
    counts,
    counts,
    counts,
)


def test_every_output_has_its_columns():
    outputs = pipeline([[]]).outputs()
    assert list(outputs) == ["mean", "slow", "too_late", "dead_letters/road"]
    assert outputs["slow"] == outputs["too_late"] == SCHEMA
    assert outputs[dead_letter_output("road")] == REJECTS


def test_two_views_may_send_late_readings_to_one_place():
    other = SLOW.replace("slow AS", "slow WITH (late_to='too_late') AS")
    assert pipeline([[]], 1, MEAN, other).late_outputs("road") == ["too_late"]


@pytest.mark.parametrize("name", ["mean", "slow"])
def test_late_readings_cannot_go_to_a_view(name):
    with pytest.raises(InputError, match=f"view 'mean' sends late readings to '{name}', which is a view itself"):
        pipeline([[]], 1, MEAN.replace("too_late", name), SLOW)


@pytest.mark.parametrize("name", ["dead_letters", "Dead_Letters", "subscriptions", "SLOW"])
def test_late_readings_cannot_go_where_other_rows_go(name):
    with pytest.raises(InputError, match=f"view 'mean' sends late readings to '{name}', which is .*; choose another"):
        pipeline([[]], 1, MEAN.replace("too_late", name), SLOW)


@pytest.mark.parametrize("name", ['"Mean"', "dead_letters", '"Subscriptions"'])
def test_views_whose_folders_may_be_one_are_refused(name):
    with pytest.raises(InputError, match=r"a view cannot be called .*, which is .*; choose another"):
        pipeline([[]], 1, MEAN, SLOW.replace("slow", name, 1))


SHED = """CREATE MATERIALIZED VIEW {0} WITH (on_overload='shed', loss_to='{1}', max_lag='2s') AS SELECT a.speed
FROM SLIDING(road, ts, INTERVAL '1' SECOND) AS a JOIN SLIDING(road, ts, INTERVAL '1' SECOND) AS b USING (segment)"""


def test_losses_have_an_output():
    found = pipeline([[]], 1, SHED.format("pairs", "gone"))
    assert found.outputs()["gone"] == LOSSES
    assert found.most_lags == {"pairs": 2_000_000}


@pytest.mark.parametrize(
    ("other", "why"),
    [("pairs", "is a view itself"), ("gone", "is for the losses of 'pairs'"), ("slow", "is a view itself")],
)
def test_losses_have_an_output_of_their_own(other, why):
    views = [SHED.format("pairs", "gone"), SHED.format("more", other), SLOW]
    with pytest.raises(InputError, match=f"view 'more' tells its losses to '{other}', which {why}"):
        pipeline([[]], 1, *views)


def test_pipeline_travels():
    found = pipeline([[[(1, 2, 3.0)]]])
    there = pickle.loads(pickle.dumps(found))
    assert there.outputs() == found.outputs()
    assert [view.name for view in there.views] == ["mean", "slow"]


def test_readers_of_a_source_keep_their_numbers():
    assert [(number, view.name) for number, view, _ in pipeline([[]]).readers("road")] == [(0, "mean"), (1, "slow")]
    assert pipeline([[]]).readers("sea") == []


def test_nobody_stops_a_run_unasked():
    assert never() is False


@given(first=outcomes, second=outcomes, third=outcomes)
def test_outcomes_add_up_in_whatever_groups(first, second, third):
    assert first.then(second).then(third) == first.then(second.then(third))


@given(outcome=outcomes)
def test_nothing_adds_nothing(outcome):
    assert Outcome().then(outcome) == outcome.then(Outcome()) == outcome


@given(first=outcomes, second=outcomes)
def test_newest_moment_never_goes_back(first, second):
    both = first.then(second)
    assert all(both.newest[name] >= moment for part in (first, second) for name, moment in part.newest.items())


@given(outcome=outcomes)
def test_outcome_comes_back_from_json(outcome):
    assert Outcome.from_json(json.loads(json.dumps(asdict(outcome)))) == outcome
