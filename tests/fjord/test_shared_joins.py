import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import accumulate

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import END_OF_TIME, Micros
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.join import Join
from skerry.plan.sharing import share
from skerry.testing.laws import rows_of
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered

SOURCE = """CREATE SOURCE {0} (k INT, ts TIMESTAMP, v DOUBLE, t VARCHAR,
    WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND) WITH (connector='file', path='{0}.csv')"""
NAMES = ("x", "y", "z")
SELECTED = ("x.k, x.ts AS at, y.ts, z.ts AS left_at", "x.v + y.v AS sum, z.t", "z.*", "CAST(y.t AS INT) AS n")
CONDITIONS = (
    "TRUE",
    "x.v < 1",
    "x.v IS NULL OR y.v >= 2",
    "x.v > 0 AND y.v > 0 AND z.v > 0",
    "y.t = '7' AND NOT z.t = 'a'",
    "x.v < z.v",
    "CAST(x.t AS INT) > 5 OR z.v <> 1",
    "x.ts < y.ts AND x.v IN (0, 2)",
)

spans = st.sampled_from([0, 1, 3, 8])
readings = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from([0, 0, 1, None]),
        st.sampled_from([0.0, 1.0, 2.0, -3.5, float("nan"), None]),
        st.sampled_from(["7", "a", "", None]),
    ),
    max_size=14,
)


def _view(selected, condition, sizes, order, *, renamed):
    """A join of all streams, which are named in some order."""
    windows = zip(NAMES, sizes, strict=True)
    sliding = {name: f"SLIDING({name}, ts, INTERVAL '{size}' MICROSECOND) AS {name}" for name, size in windows}
    first, second, third = order
    text = f"""SELECT {selected} FROM {sliding[first]} JOIN {sliding[second]} ON {first}.k = {second}.k
        JOIN {sliding[third]} ON {second}.k = {third}.k WHERE {condition}"""
    return re.sub(r"(?<=AS )[xyz]\b|\b[xyz](?=\.)", r"other_\g<0>", text) if renamed else text


view_texts = st.builds(
    _view,
    st.sampled_from(SELECTED),
    st.sampled_from(CONDITIONS),
    st.tuples(spans, spans, spans),
    st.permutations(NAMES),
    renamed=st.booleans(),
)


@cache
def plans(*texts):
    session = Session(Catalog.in_memory())
    views = [f"CREATE MATERIALIZED VIEW v{place} AS {text}" for place, text in enumerate(texts)]
    session.execute(";".join([*map(SOURCE.format, NAMES), *views]))
    return session.catalog.sources(), session.plans()


def unit(steps, schema):
    clock = accumulate(forward for forward, *_ in steps)
    rows = [(k, now - behind, v, t) for now, (_, behind, k, v, t) in zip(clock, steps, strict=True)]
    columns = list(zip(*rows, strict=True)) or [()] * 4
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def answers(found, sources, given_readings, step_rows):
    units = [unit(steps, source.schema) for source, steps in zip(sources, given_readings, strict=True)]
    connectors = tuple(GivenConnector(source, [[each]]) for source, each in zip(sources, units, strict=True))
    _, sink = answered(Pipeline(connectors, tuple(map(cut_view, found)), step_rows))
    return {output: _multiset(sink.table(output)) for output in sink.outputs()}


def _multiset(table):
    return sum((rows_of(batch) for batch in table.to_batches()), Counter())


SAME_KEY = [(1, 0, 0, 1.0, "a")] * 5
ALIKE = [_view(SELECTED[0], "TRUE", (8, 8, size), NAMES, renamed=False) for size in range(8)]


def test_shared_join_that_gives_too_much_stops_all_its_views():
    sources, alone = plans(*ALIKE)
    (shared,) = share([replace(each, root=_limited(each.root, 9)) for each in alone])
    connectors = tuple(GivenConnector(source, [[unit(SAME_KEY, source.schema)]]) for source in sources)
    outcome, _ = answered(Pipeline(connectors, (cut_view(shared),)))
    assert outcome.failures.keys() == {f"v{place}" for place in range(8)}


def _limited(node, limit):
    return replace(node, limit=limit) if isinstance(node, Join) else replace(node, input=_limited(node.input, limit))


def test_shared_join_goes_on_from_its_saved_state():
    sources, alone = plans(*ALIKE)
    (shared,) = map(cut_view, share(alone))
    operator, batches = shared.build_operate(), [unit(SAME_KEY, source.schema) for source in sources]
    routed = [feed.build_route().transition(batch) for feed, batch in zip(shared.feeds, batches, strict=True)]
    operator.transition(routed[0], 0)
    operator.transition(routed[1], 1)
    operator.advance(Micros(2))
    found = []
    for restored in (False, True):
        other = shared.build_operate()
        other.restore(operator.snapshot() if restored else {})
        other.transition(routed[2], 2)
        found.append({view: rows_of(rows) for view, rows in shared.by_output(other.advance(END_OF_TIME))})
    assert found[0] == {}
    assert found[1].keys() == {f"v{place}" for place in range(8)}


@settings(max_examples=25)
@given(st.lists(view_texts, min_size=8, max_size=10), st.tuples(readings, readings, readings), st.integers(1, 20))
def test_views_that_share_a_join_say_what_each_says_alone(texts, given_readings, step_rows):
    sources, alone = plans(*texts)
    shared = share(alone)
    assert len(shared) == 1
    assert answers(shared, sources, given_readings, step_rows) == answers(alone, sources, given_readings, step_rows)
