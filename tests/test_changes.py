"""``emit='changes'``: the net of what a chain of views gives and takes back is its final answer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.database import Settings
from tests.changing_views import ENDLESS, WINDOWED, ask_duckdb, final, net, readings, run, script_of

_SCRIPT = script_of(ENDLESS, "changes") + script_of(WINDOWED, "changes") + script_of(WINDOWED, None, "final_")
_STEPS = st.sampled_from([1, 2, 3, 7, 1_000_000])


def check(roads, rails, how):
    sink = run(_SCRIPT, roads, rails, how)
    expected = ask_duckdb(roads, rails)
    for view in ENDLESS:
        if expected[view] or "GROUP BY" in ENDLESS[view]:  # DuckDB gives a row for nothing, Skerry for a first reading
            assert roads == [] or net(sink, view) == expected[view], view
    for view in WINDOWED:
        assert net(sink, view) == final(sink, f"final_{view}"), view


@settings(max_examples=4, deadline=None)
@given(roads=readings(), rails=readings(), step_rows=_STEPS)
def test_net_of_changes_is_the_final_answer_in_process(roads, rails, step_rows):
    check(roads, rails, Settings("fjord", step_rows=step_rows))


@pytest.mark.soak
@pytest.mark.timeout(500)
@settings(max_examples=120, deadline=None)
@given(roads=readings(60), rails=readings(60), step_rows=_STEPS)
def test_net_of_changes_is_the_final_answer_in_process_again_and_again(roads, rails, step_rows):
    check(roads, rails, Settings("fjord", step_rows=step_rows))


@pytest.mark.spark
@settings(max_examples=1, deadline=None)
@given(roads=readings(60).filter(len), rails=readings(60), step_rows=st.sampled_from([9, 40]))
def test_net_of_changes_is_the_final_answer_on_spark(roads, rails, step_rows):
    check(roads, rails, Settings("spark", "local[2]", step_rows=step_rows))


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.timeout(600)
@settings(max_examples=10, deadline=None)
@given(roads=readings(60), rails=readings(60), step_rows=st.sampled_from([3, 9, 40, 1_000_000]))
def test_net_of_changes_is_the_final_answer_on_spark_again_and_again(roads, rails, step_rows):
    check(roads, rails, Settings("spark", "local[2]", step_rows=step_rows))
