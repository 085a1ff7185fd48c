"""Pipelines over given readings, drawn by Hypothesis, and what DuckDB says about the whole of them."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import strategies as st

from skerry.build.cut import CutView, cut_view
from skerry.catalog import Catalog
from skerry.fjord.runtime import FjordRuntime
from skerry.lang.sql import Session
from skerry.model.types import TIMESTAMP
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.sinks.memory import MemorySink
from skerry.testing.sources import GivenConnector

DELAY_US = 20
SOURCE = """CREATE SOURCE road (ts TIMESTAMP, segment INT, speed DOUBLE,
    WATERMARK FOR ts AS ts - INTERVAL '20' MICROSECOND) WITH (connector='file', path='*.csv')"""
MEAN = """CREATE MATERIALIZED VIEW mean WITH (late_to='too_late') AS
    SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) AS n
    FROM TUMBLE(road, ts, INTERVAL '10' MICROSECOND) GROUP BY segment, window_start"""
SLOW = "CREATE MATERIALIZED VIEW slow AS SELECT ts, segment, speed FROM road WHERE speed < 0"
SCHEMA = pa.schema({"ts": TIMESTAMP, "segment": pa.int32(), "speed": pa.float64()})

Reading = tuple[int, int | None, float | None]
Lanes = list[list[list[Reading]]]
Rows = Counter[tuple[Any, ...]]


@cache
def views(*statements: str) -> tuple[CutView, ...]:
    """Views of the road, cut into stages."""
    session = Session(Catalog.in_memory())
    session.execute(";".join([SOURCE, *statements]))
    return tuple(map(cut_view, session.plans()))


def pipeline(lanes: Lanes, step_rows: int = 10, *statements: str) -> Pipeline:
    """Views over lanes of units of readings."""
    found = views(*(statements or (MEAN, SLOW)))
    units = [[batch(unit) for unit in lane] for lane in lanes]
    return Pipeline((GivenConnector(found[0].feeds[0].source, units),), found, step_rows)


def run(lanes: Lanes, step_rows: int = 10) -> tuple[Outcome, MemorySink]:
    """Answer the views over given readings."""
    return answered(pipeline(lanes, step_rows))


def answered(given: Pipeline) -> tuple[Outcome, MemorySink]:
    """Run a pipeline to its end."""
    sink = MemorySink()
    return FjordRuntime(given, sink).run(), sink


def batch(unit: Sequence[tuple[Any, ...]], schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    columns = list(zip(*unit, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )


def rows(table: pa.Table) -> Rows:
    """A table as a multiset of rows, times in microseconds."""
    columns = [column.cast(pa.int64()) if column.type == TIMESTAMP else column for column in table.columns]
    return Counter(zip(*(column.to_pylist() for column in columns), strict=True))


def means(lanes: Lanes) -> Rows:
    """The view ``mean`` over all readings at once."""
    readings = pa.Table.from_batches([batch(unit) for lane in lanes for unit in lane], SCHEMA)  # noqa: F841
    start = "make_timestamp(epoch_us(ts) - ((epoch_us(ts) % 10) + 10) % 10)"
    answers = f"SELECT segment, {start} AS s, avg(speed), count(*) FROM readings GROUP BY ALL"
    return rows(duckdb.sql(answers).to_arrow_table())


def slows(lanes: Lanes) -> Rows:
    """The view ``slow`` over all readings."""
    return Counter(reading for lane in lanes for unit in lane for reading in unit if (reading[2] or 0) < 0)


def split_at(found: Sequence[Any], places: Sequence[int]) -> list[list[Any]]:
    bounds = [0, *sorted(place % (len(found) + 1) for place in places), len(found)]
    return [list(found[start:stop]) for start, stop in pairwise(bounds)]


def arrived(steps: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Readings of a lane, each some time on from the one before and some time too late."""
    clock = accumulate(forward for forward, *_ in steps)
    return [(now - behind, *rest) for now, (_, behind, *rest) in zip(clock, steps, strict=True)]


def _lanes(longest_behind: int) -> st.SearchStrategy[Lanes]:
    """Lanes cut into units, no reading of one behind another by more than this."""
    forward, behind = st.integers(0, 5), st.sampled_from([0, longest_behind]) | st.integers(0, longest_behind)
    segment, speed = st.none() | st.integers(0, 2), st.none() | st.integers(-800, 800).map(lambda eighths: eighths / 8)
    lane = st.lists(st.tuples(forward, behind, segment, speed), max_size=12).map(arrived)
    return st.lists(st.builds(split_at, lane, st.lists(st.integers(0, 12), max_size=3)), min_size=1, max_size=3)


lanes_within_delay, lanes_beyond_delay = _lanes(DELAY_US), _lanes(3 * DELAY_US)
step_sizes = st.integers(1, 30)
