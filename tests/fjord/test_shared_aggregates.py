from collections import Counter
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import END_OF_TIME, Micros
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.sharing import share
from skerry.testing.laws import rows_of
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, arrived, batch

SOURCE = """CREATE SOURCE road (ts TIMESTAMP, segment INT, lane VARCHAR, speed DOUBLE,
    WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND) WITH (connector='file', path='*.csv')"""
SELECTED = (
    "segment, lane, window_start, AVG(speed) AS mean",
    "lane || '!' AS name, window_end, COUNT(*) AS n, MAX(speed) - MIN(speed) AS spread",
    "segment + 1 AS next, SUM(speed) AS total, COUNT(DISTINCT speed + 1) AS kinds",
    "COUNT(*) FILTER (WHERE speed > 0) AS n",
)
CONDITIONS = (
    "TRUE",
    "segment = 1",
    "segment IN (0, 2) AND NOT lane = 'a'",
    "segment IS NULL OR lane > 'a'",
    "CAST(lane AS INT) > segment",
    "segment + 1 = 2 AND lane IS NOT NULL",
)
HAVING = ("TRUE", "COUNT(*) > 1", "AVG(speed) < 0 AND segment = 1", "MIN(speed) IS NULL")
KEYS = ("segment, lane, window_start", "lane, segment", "window_end, segment, lane")

readings = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from([0, 1, 2, None]),
        st.sampled_from(["a", "b", "3", None]),
        st.sampled_from([0.0, 1.0, -3.5, float("nan"), None]),
    ),
    max_size=20,
)
WINDOWS = (
    "TUMBLE(road, ts, INTERVAL '4' MICROSECOND)",
    "HOP(road, ts, INTERVAL '2' MICROSECOND, INTERVAL '6' MICROSECOND)",
    "TUMBLE(road, ts, INTERVAL '7' MICROSECOND)",
    "HOP(road, ts, INTERVAL '3' MICROSECOND, INTERVAL '5' MICROSECOND)",
)
view_parts = st.tuples(*map(st.sampled_from, (SELECTED, CONDITIONS, KEYS, HAVING, WINDOWS)))


def text(selected, condition, keys, having, window, common):
    return f"SELECT {selected} FROM {window} WHERE {common} ({condition}) GROUP BY {keys} HAVING {having}"


@cache
def plans(*texts):
    session = Session(Catalog.in_memory())
    views = [f"CREATE MATERIALIZED VIEW v{place} AS {text}" for place, text in enumerate(texts)]
    session.execute(";".join([SOURCE, *views]))
    return session.catalog.sources()[0], session.plans()


def answers(found, source, steps, step_rows):
    connector = GivenConnector(source, [[batch(arrived(steps), source.schema)]])
    _, sink = answered(Pipeline((connector,), tuple(map(cut_view, found)), step_rows))
    return {output: sum(map(rows_of, sink.table(output).to_batches()), Counter()) for output in sink.outputs()}


@settings(max_examples=25)
@given(
    st.lists(view_parts, min_size=2, max_size=10),
    st.sampled_from(["", "speed > -1 AND", "segment < 9 AND speed < 5 AND"]),
    readings,
    st.integers(1, 20),
)
def test_views_that_share_an_aggregate_say_what_each_says_alone(parts, common, steps, step_rows):
    source, alone = plans(*(text(*part, common) for part in parts))
    shared = share(alone)
    assert len(shared) == 1
    assert answers(shared, source, steps, step_rows) == answers(alone, source, steps, step_rows)


def test_shared_aggregate_goes_on_from_its_saved_state():
    window = "TUMBLE(road, ts, INTERVAL '4' MICROSECOND)"
    texts = [text("lane, COUNT(*) AS n", f"segment = {n}", "segment, lane", "TRUE", window, "") for n in range(8)]
    source, alone = plans(*texts)
    (shared,) = map(cut_view, share(alone))
    (feed,) = shared.feeds
    rows = batch([(n + 1, n, "a", 1.0) for n in range(8)], source.schema)
    operator, other = shared.build_operate(), shared.build_operate()
    operator.transition(feed.build_route().transition(rows))
    operator.advance(Micros(2))
    other.restore(operator.snapshot())
    found = {view: rows_of(rows) for view, rows in shared.by_output(other.advance(END_OF_TIME))}
    assert found.keys() == {f"v{n}" for n in range(8)}
