"""SESSION_WINDOW over whole streams, as DuckDB says it."""

from functools import cache

import duckdb
from hypothesis import given

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.pipeline.pipeline import Pipeline
from skerry.testing.sources import GivenConnector
from tests.fjord.given import SCHEMA, SOURCE, answered, batch, lanes_within_delay, rows, step_sizes

VIEW = """CREATE MATERIALIZED VIEW visits AS
    SELECT segment, window_start, window_end, COUNT(*) AS n, AVG(speed) AS speed
    FROM SESSION_WINDOW(road, ts, INTERVAL '6' MICROSECOND) WHERE speed IS NULL OR speed < 50
    GROUP BY segment, window_start, window_end"""
ISLANDS = """
WITH gaps AS (SELECT *, epoch_us(ts) - lag(epoch_us(ts)) OVER w > 6 AS apart FROM readings
              WHERE speed IS NULL OR speed < 50 WINDOW w AS (PARTITION BY segment ORDER BY ts)),
     numbered AS (SELECT *, sum(CASE WHEN apart THEN 1 ELSE 0 END) OVER
              (PARTITION BY segment ORDER BY ts RANGE UNBOUNDED PRECEDING) AS number FROM gaps)
SELECT segment, min(ts), max(ts) + INTERVAL '6' MICROSECOND, count(*), avg(speed) FROM numbered GROUP BY segment, number
"""


@cache
def views():
    session = Session(Catalog.in_memory())
    session.execute(f"{SOURCE};{VIEW}")
    return tuple(map(cut_view, session.plans()))


@given(lanes=lanes_within_delay, step_rows=step_sizes)
def test_sessions_are_those_that_duckdb_finds(lanes, step_rows):
    units = [[batch(unit) for unit in lane] for lane in lanes]
    given_pipeline = Pipeline((GivenConnector(views()[0].feeds[0].source, units),), views(), step_rows)
    _, sink = answered(given_pipeline)
    readings = batch([reading for lane in lanes for unit in lane for reading in unit], SCHEMA)  # noqa: F841
    assert rows(sink.table("visits")) == rows(duckdb.sql(ISLANDS).to_arrow_table())
