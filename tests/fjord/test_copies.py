"""Equal views: the copies have the answers that each would give by itself, to the last bit and in the same order."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.errors import InputError
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.sharing import Copy, find_copies, share
from skerry.testing.laws import rows_of
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, batch
from tests.plan.sharing.test_copies import PAIRS, plans

EQUAL = [pair for pair in PAIRS if pair[0].startswith("-- equal")]
seconds = st.integers(0, 40)
numbers = st.none() | st.integers(0, 4)
texts = st.sampled_from(["a", "b", "3", None])
roads = st.lists(st.tuples(seconds, numbers, texts, st.sampled_from([0.0, 2.5, 21.0, None]), numbers), max_size=15)
cars = st.lists(st.tuples(seconds, numbers, texts), max_size=10)


@cache
def bound(*queries):
    return plans(*(f"v{number} AS {query}" for number, query in enumerate(queries)))


def connectors(views, rows):
    sources = {source.name: source for view in views for source in view.sources}.values()
    return tuple(GivenConnector(source, [[batch(in_order(rows[source.name]), source.schema)]]) for source in sources)


def in_order(rows):
    return [(second * 1_000_000, *rest) for second, *rest in sorted(rows, key=lambda row: row[0])]


def answers(pipeline):
    _, sink = answered(pipeline)
    return {output: [rows_of(each) for each in sink.table(output).to_batches()] for output in sink.outputs()}


@pytest.mark.parametrize("pair", EQUAL, ids=lambda pair: pair[0].removeprefix("-- "))
@settings(max_examples=6)
@given(roads, cars, st.integers(1, 9))
def test_copies_are_what_each_view_says_by_itself(pair, road, car, step_rows):
    views = bound(*pair[1:])
    running, copies = find_copies(views)
    sources = connectors(views, {"road": road, "cars": car})
    alone = Pipeline(sources, tuple(map(cut_view, views)), step_rows)
    shared = Pipeline(sources, tuple(map(cut_view, share(running))), step_rows, copies=copies)
    assert len(shared.views) == 1
    assert answers(shared) == answers(alone)


def test_a_view_that_stops_stops_its_copies():
    query = """SELECT a.ts FROM SLIDING(road, ts, INTERVAL '9' SECOND) AS a
        JOIN SLIDING(cars, ts, INTERVAL '9' SECOND) AS b ON a.segment = b.segment"""
    views = plans(*(f"v{number} WITH (max_combinations='1') AS {query}" for number in range(2)))
    running, copies = find_copies(views)
    rows = {"road": [(1, 1, "a", 1.0, 1)] * 3, "cars": [(1, 1, "a")] * 3}
    outcome, _ = answered(Pipeline(connectors(views, rows), tuple(map(cut_view, running)), copies=copies))
    assert outcome.failures.keys() == {"v0", "v1"}


def test_a_copy_has_a_name_of_its_own():
    (view,) = bound("SELECT ts FROM road")
    with pytest.raises(InputError, match="cannot be called 'dead_letters'"):
        Pipeline(connectors([view], {"road": []}), (cut_view(view),), copies=(Copy("dead_letters", "v0", ()),))
