"""NOT EXISTS over whole streams, as DuckDB says it."""

from collections import Counter
from functools import cache

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.pipeline.pipeline import Pipeline
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, arrived, batch

SOURCE = """CREATE SOURCE {0} (ts TIMESTAMP, k INT, t VARCHAR, v INT,
    WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND) WITH (connector='file', path='{0}.csv')"""
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int32(), "t": pa.string(), "v": pa.int32()})
EQUAL = ("b.k = a.k", "a.t = b.t AND b.k + 1 = a.k", "b.k = a.k AND b.v > 0")

readings = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 5),
        st.sampled_from([0, 1, 2, None]),
        st.sampled_from(["x", "y", None]),
        st.integers(0, 2),
    ),
    max_size=14,
)


@cache
def plans(span, equal):
    view = f"""CREATE MATERIALIZED VIEW missing AS SELECT v * 2 AS twice, ts FROM {_present(span)} AS a
        WHERE v < 2 AND NOT EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '3' MICROSECOND) AS b WHERE {equal})"""
    session = Session(Catalog.in_memory())
    session.execute(";".join([SOURCE.format("a"), SOURCE.format("b"), view]))
    return session.catalog.sources(), tuple(map(cut_view, session.plans()))


def _present(span):
    return "a" if span is None else f"SLIDING(a, ts, INTERVAL '{span}' MICROSECOND)"


@settings(max_examples=60)
@given(st.sampled_from([None, 0, 4]), st.sampled_from(EQUAL), readings, readings, st.integers(1, 20))
def test_readings_without_a_partner_are_those_that_duckdb_finds(span, equal, here, there, step_rows):
    sources, views = plans(span, equal)
    a, b = batch(arrived(here), SCHEMA), batch(arrived(there), SCHEMA)
    connectors = tuple(GivenConnector(source, [[each]]) for source, each in zip(sources, (a, b), strict=True))
    _, sink = answered(Pipeline(connectors, views, step_rows))
    near = f"epoch_us(b.ts) BETWEEN epoch_us(a.ts) - 3 AND epoch_us(a.ts) + {span or 0}"
    expected = duckdb.sql(
        f"SELECT v * 2, epoch_us(ts) FROM a WHERE v < 2 AND NOT EXISTS (SELECT 1 FROM b WHERE {equal} AND {near})"
    )
    found = sink.table("missing")
    given_rows = zip(found.column("twice").to_pylist(), found.column("ts").cast(pa.int64()).to_pylist(), strict=True)
    assert Counter(given_rows) == Counter(expected.fetchall())
