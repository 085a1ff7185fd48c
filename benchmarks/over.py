"""OVER in this process: rows per second of CPU time, beside DuckDB over the whole input at once.

Readings of 1,000 sensors, nearly in order, in batches of 100,000. DuckDB sorts and computes all of them in one query on
one thread; it neither waits for a watermark nor keeps state, and its sums are not exact.

    python benchmarks/over.py
    python benchmarks/over.py --batches 50 --json over.json
"""

import argparse
import json
import time
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from _report import Report

from skerry.build.over import build_over
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import Micros
from skerry.operators.operator import Operator
from skerry.plan.node import Node
from skerry.plan.over import Over

_ROWS, _SENSORS, _DELAY = 100_000, 1_000, 1_000
_WARM = 2
_BY_TIME = "OVER (PARTITION BY k ORDER BY ts"
_CALLS = {
    "LAG": f"LAG(x) {_BY_TIME})",
    "AVG of 10 rows": f"AVG(x) {_BY_TIME} ROWS 9 PRECEDING)",
    "AVG of a minute": f"AVG(x) {_BY_TIME} RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW)",
    "MAX of 10 rows": f"MAX(x) {_BY_TIME} ROWS 9 PRECEDING)",
    "STDDEV of 10 rows": f"STDDEV(x) {_BY_TIME} ROWS 9 PRECEDING)",
    "MEDIAN of 10 rows": f"MEDIAN(x) {_BY_TIME} ROWS 9 PRECEDING)",
    "running SUM": f"SUM(x) {_BY_TIME})",
}
_SOURCE = """CREATE SOURCE s (k VARCHAR, ts TIMESTAMP, x DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH (connector='file', path='s.csv');"""


def make_batches(count: int) -> list[pa.RecordBatch]:
    """A reading per millisecond, each up to half a second out of order."""
    dice, found = np.random.default_rng(1), []
    names = pa.array([f"sensor-{number}" for number in range(_SENSORS)])
    for number in range(count):
        moments = (number * _ROWS + np.arange(_ROWS) + dice.integers(-_DELAY // 2, _DELAY // 2, _ROWS)) * 1_000
        sensors = names.take(pa.array(dice.integers(0, _SENSORS, _ROWS)))
        columns = [sensors, pa.array(moments).cast(pa.timestamp("us")), pa.array(dice.normal(60, 10, _ROWS))]
        found.append(pa.RecordBatch.from_arrays(columns, names=["k", "ts", "x"]))
    return found


def make_operator(call: str) -> tuple[Operator, list[str]]:
    """The operator of a call, and the columns that it takes, in order."""
    session = Session(Catalog.in_memory())
    session.execute(f"{_SOURCE} CREATE MATERIALIZED VIEW v AS SELECT k, ts, x, {call} AS y FROM s")
    node: Node = session.plan("v").root
    while not isinstance(node, Over):
        (node,) = node.inputs
    return build_over("v", node), node.input.schema.names


def measure(call: str, batches: list[pa.RecordBatch]) -> float:
    """Rows per second of CPU time, after some batches to warm up."""
    operator, names = make_operator(call)
    rows, start = 0, 0.0
    for number, batch in enumerate(batches):
        if number == _WARM:
            rows, start = 0, time.process_time()
        operator.transition(batch.rename_columns(names))
        rows += operator.advance(Micros(((number + 1) * _ROWS - _DELAY) * 1_000)).num_rows
    return rows / (time.process_time() - start)


def measure_duckdb(call: str, batches: list[pa.RecordBatch]) -> float:
    """Rows per second of CPU time of one query over all rows."""
    connection = duckdb.connect(config={"threads": 1})
    connection.register("s", pa.Table.from_batches(batches))
    start = time.process_time()
    connection.sql(f"SELECT k, ts, x, {call} AS y FROM s").to_arrow_table()
    return _ROWS * len(batches) / (time.process_time() - start)


def main() -> None:
    """Measure all calls."""
    parser = argparse.ArgumentParser(description="OVER beside DuckDB over the whole input.")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report, batches = Report(), make_batches(given.batches)
    for name, call in _CALLS.items():
        ours, theirs = measure(call, batches), measure_duckdb(call, batches)
        report.tell(name, ours / 1e6, "million rows per second")
        report.tell(f"{name}, DuckDB over the whole", theirs / 1e6, "million rows per second")
        report.tell(f"{name}, ratio", ours / theirs, "times DuckDB")
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=1))


if __name__ == "__main__":
    main()
