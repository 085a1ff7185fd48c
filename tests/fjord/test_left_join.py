"""LEFT JOIN over whole streams and with a table, as DuckDB says it."""

from collections import Counter
from functools import cache

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.database import Settings, connect
from skerry.lang.sql import Session
from skerry.pipeline.pipeline import Pipeline
from skerry.sinks.memory import MemorySink
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, arrived, batch
from tests.fjord.test_absence import SCHEMA, SOURCE, readings

ON = (
    "b.k = a.k",
    "a.t = b.t AND b.k + 1 = a.k",
    "b.k = a.k AND b.v > 0",
    "b.k = a.k AND a.v > 0",
    "b.k = a.k AND b.v > a.v AND a.t = b.t",
)
WHERE = ("TRUE", "a.v < 2", "b.v IS NULL", "b.v > 0", "b.v IS NULL OR a.v = b.v")


@cache
def plans(span, on, where):
    view = f"""CREATE MATERIALIZED VIEW found AS SELECT a.v AS x, b.v AS y, a.ts FROM SLIDING(a, ts, INTERVAL '{span}'
        MICROSECOND) AS a LEFT JOIN SLIDING(b, ts, INTERVAL '3' MICROSECOND) AS b ON {on} WHERE {where}"""
    session = Session(Catalog.in_memory())
    session.execute(";".join([SOURCE.format("a"), SOURCE.format("b"), view]))
    return session.catalog.sources(), tuple(map(cut_view, session.plans()))


@settings(max_examples=120)
@given(st.sampled_from([0, 4]), st.sampled_from(ON), st.sampled_from(WHERE), readings, readings, st.integers(1, 20))
def test_answers_are_those_that_duckdb_finds(span, on, where, here, there, step_rows):
    sources, views = plans(span, on, where)
    a, b = batch(arrived(here), SCHEMA), batch(arrived(there), SCHEMA)
    connectors = tuple(GivenConnector(source, [[each]]) for source, each in zip(sources, (a, b), strict=True))
    _, sink = answered(Pipeline(connectors, views, step_rows))
    near = f"epoch_us(b.ts) BETWEEN epoch_us(a.ts) - 3 AND epoch_us(a.ts) + {span}"
    expected = duckdb.sql(f"SELECT a.v, b.v, epoch_us(a.ts) FROM a LEFT JOIN b ON {on} AND {near} WHERE {where}")
    found = sink.table("found")
    rows = [found["x"].to_pylist(), found["y"].to_pylist(), found["ts"].cast(pa.int64()).to_pylist()]
    assert Counter(zip(*rows, strict=True)) == Counter(expected.fetchall())


@pytest.mark.parametrize("on", ["d.id = r.k", "d.id = r.k AND d.kind = 'loop'", "d.id + 1 = r.k AND d.kind <> 'loop'"])
@pytest.mark.parametrize("where", ["TRUE", "d.kind IS NULL", "d.kind = 'loop' OR r.k > 2"])
def test_answers_with_a_table_are_those_that_duckdb_finds(tmp_path, on, where):
    (tmp_path / "r.csv").write_text("k,ts\n" + "".join(f"{k},2026-01-01 00:00:0{k}\n" for k in range(5)) + ",\n")
    (tmp_path / "d.csv").write_text("id,kind\n1,loop\n1,radar\n3,loop\n,loop\n")
    database = connect(tmp_path)
    database.execute(
        f"""CREATE SOURCE r (k INT, ts TIMESTAMP) WITH (connector='file', path='r.csv');
        CREATE TABLE d (id INT, kind VARCHAR) WITH (connector='file', path='d.csv');
        CREATE MATERIALIZED VIEW v AS SELECT r.k, d.id, d.kind FROM r LEFT JOIN d ON {on} WHERE {where}"""
    )
    database.run(sink := MemorySink(), Settings("fjord"))
    asked = f"SELECT r.k, d.id, d.kind FROM '{tmp_path}/r.csv' r LEFT JOIN '{tmp_path}/d.csv' d ON {on} WHERE {where}"
    assert Counter(map(tuple, map(dict.values, sink.table("v").to_pylist()))) == Counter(duckdb.sql(asked).fetchall())
