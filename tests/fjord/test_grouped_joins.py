"""Aggregates over joins in one statement give what DuckDB gives over all readings at once."""

from functools import cache
from itertools import accumulate

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.pipeline.pipeline import Pipeline
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, rows

SOURCE = """CREATE SOURCE {0} (k INT, ts TIMESTAMP, v DOUBLE,
    WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND) WITH (connector='file', path='{0}.csv')"""
NAMES = ("a", "b", "c")
SIZE = 10
START = f"(epoch_us({{0}}.ts) - epoch_us({{0}}.ts) % {SIZE})"
MEASURES = "COUNT(*) AS n, SUM(a.v - b.v) AS d, MAX(b.v) AS most"

steps = st.lists(
    st.tuples(
        st.integers(0, 6), st.integers(0, 5), st.sampled_from([0, 0, 0, 1, None]), st.integers(-4, 4) | st.none()
    ),
    min_size=2,
    max_size=12,
)
spans = st.sampled_from([25, 12, 3, 0])


def window(name, span):
    """How a stream stands in FROM: over the aggregate's window, or sliding."""
    kind, size = ("TUMBLE", SIZE) if span is None else ("SLIDING", span)
    return f"{kind}({name}, ts, INTERVAL '{size}' MICROSECOND) AS {name}"


@cache
def planned(text):
    session = Session(Catalog.in_memory())
    session.execute(";".join([*map(SOURCE.format, NAMES), f"CREATE MATERIALIZED VIEW v AS {text}"]))
    return session.catalog.sources(), tuple(map(cut_view, session.plans()))


def unit(given_steps, schema):
    """Readings one after the other, some of them behind, all before their watermark's delay is over."""
    clock = accumulate((forward for forward, *_ in given_steps), initial=20)
    found = [(k, now - behind, v) for now, (_, behind, k, v) in zip(list(clock)[1:], given_steps, strict=True)]
    columns = zip(*found, strict=True) if found else [[]] * 3
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )


def expected(units, lives):
    """The same by definition: combinations first, then groups. ``lives``: by name, how long; None: in the window."""
    connection = duckdb.connect()
    for name, found in units.items():
        connection.register(name, pa.Table.from_batches([found]))
    newest = f"greatest({', '.join(f'epoch_us({name}.ts)' for name in lives)})"
    held = [f"{newest} - epoch_us({name}.ts) <= {SIZE if span is None else span}" for name, span in lives.items()]
    end = f"{START.format('a')} + {SIZE}"
    inside = [
        f"{START.format(name)} = {START.format('a')}" if span is None else f"epoch_us({name}.ts) < {end}"
        for name, span in lives.items()
        if name != "a"
    ]
    equal = [f"a.k = {name}.k" for name in lives if name != "a"]
    answers = f"""SELECT a.k, make_timestamp({START.format("a")}) AS start, {MEASURES} FROM {", ".join(lives)}
        WHERE {" AND ".join([*held, *inside, *equal])} GROUP BY ALL"""
    return rows(connection.sql(answers).to_arrow_table())


@given(st.tuples(steps, steps, steps), spans | st.none(), spans | st.none(), st.booleans(), st.integers(1, 30))
def test_groups_of_combinations_are_those_of_all_readings_at_once(given_steps, second, third, has_third, step_rows):
    lives = {"a": None, "b": second} | ({"c": third} if has_third else {})
    first, *others = (window(name, span) for name, span in lives.items())
    joined = " ".join([first, *(f"JOIN {other} ON a.k = {other[-1]}.k" for other in others)])
    text = f"""SELECT a.k, a.window_start AS start, {MEASURES} FROM {joined}
        GROUP BY a.k, a.window_start"""
    sources, views = planned(text)
    units = {
        source.name: unit(found, source.schema)
        for source, found in zip(sources, given_steps, strict=True)
        if source.name in lives
    }
    connectors = [GivenConnector(source, [[units[source.name]]]) for source in sources if source.name in lives]
    _, sink = answered(Pipeline(tuple(connectors), views, step_rows))
    assert rows(sink.table("v")) == expected(units, lives)
