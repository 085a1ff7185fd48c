"""What many views cost that have something in common, against one of them.

Fifty averages over windows of fifty sizes, and a thousand equal queries of several kinds, over one stream; in process
and on Spark, all side by side in one run. Cost is processor time of all processes, since a shared machine has no other;
a ratio is that to one view by itself. Answers come first: those of each view must be, bit for bit, those that it gives
when it runs alone.

    python benchmarks/sharing.py
    python benchmarks/sharing.py --files 4 --repeats 1 --runtime fjord --json sharing.json
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from _cpu import measure_cpu_seconds
from _report import Report

from pipeline import make_files
from skerry.build.cut import cut_view
from skerry.database import Settings, connect
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.memory import MemorySink
from skerry.sinks.sink import Sink

_COLUMNS = "ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
_WINDOWS = 50
_EQUAL = {
    "averages": """SELECT segment, window_start, AVG(speed) AS speed FROM TUMBLE(road, ts, INTERVAL '30' SECOND)
        GROUP BY segment, window_start""",
    "selections": "SELECT ts, segment, speed FROM road WHERE speed < 0.1",
    "moving averages": """SELECT ts, AVG(speed) OVER (PARTITION BY segment ORDER BY ts ROWS 9 PRECEDING) AS speed
        FROM road WHERE speed < 1""",
    "joins": """SELECT a.ts, b.speed FROM SLIDING(road, ts, INTERVAL '1' SECOND) AS a JOIN
        SLIDING(road, ts, INTERVAL '1' SECOND) AS b ON a.segment = b.segment WHERE a.speed < 1 AND b.speed > 99""",
}
"""Queries of several kinds, of which all are asked many times; each gives few rows, since these are counted."""


class Counting(Sink):
    """Answers are counted and forgotten: what writing costs is no part of this."""

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Nothing to make ready."""

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing to finish."""


class Case(NamedTuple):
    """Many views, the one that they are measured against, and how many times its cost they may cost."""

    name: str
    views: tuple[str, ...]
    one: int
    target: float


def average(seconds: int) -> str:
    """A view over windows of one size."""
    window = f"TUMBLE(road, ts, INTERVAL '{seconds}' SECOND)"
    return f"SELECT segment, window_start, AVG(speed) AS speed FROM {window} GROUP BY segment, window_start"


def list_cases(equal: int) -> list[Case]:
    """All that is measured."""
    return [
        Case("windows of 10, 20, ... 500 s", tuple(average(10 * n) for n in range(1, _WINDOWS + 1)), 0, 3),
        Case("windows of 11, 12, ... 60 s", tuple(average(10 + n) for n in range(1, _WINDOWS + 1)), 0, 3),
        *(Case(f"equal {name}", (query,) * equal, 0, 1.5) for name, query in _EQUAL.items()),
    ]


class Bench:
    """One data set, and where it is run."""

    def __init__(self, data: Path, step_rows: int, master: str) -> None:
        self._data, self._step_rows, self._master = data, step_rows, master

    def declare(self, views: Sequence[str], runtime: str, *, alone: bool = False) -> Pipeline:
        """Views as they are run; ``alone`` with no view having anything in common with another."""
        database = connect()
        source = f"CREATE SOURCE road ({_COLUMNS}) WITH (connector='file', path='{self._data}/*.parquet')"
        made = (f"CREATE MATERIALIZED VIEW v{number} AS {view}" for number, view in enumerate(views))
        database.execute(";".join([source, *made]))
        settings = Settings(runtime, step_rows=self._step_rows)
        pipeline = database.pipeline(database.plans(), settings)
        if not alone:
            return pipeline
        return Pipeline(pipeline.connectors, tuple(map(cut_view, database.plans())), self._step_rows, indexed=False)

    def run(self, pipeline: Pipeline, runtime: str, sink: Sink) -> float:
        """Run to the end; processor time in seconds."""
        began = measure_cpu_seconds()
        if runtime == "spark":
            from skerry.spark.runtime import SparkRuntime

            SparkRuntime(pipeline, sink, RunOptions(self._master)).run()
        else:
            FjordRuntime(pipeline, sink).run()
        return measure_cpu_seconds() - began

    def check(self, case: Case, runtime: str) -> None:
        """Stop if some view answers otherwise than by itself."""
        together, alone = MemorySink(), MemorySink()
        self.run(self.declare(case.views, runtime), runtime, together)
        different = tuple(dict.fromkeys(case.views))
        self.run(self.declare(different, "fjord", alone=True), "fjord", alone)
        for number, view in enumerate(case.views):
            first, mine = different.index(view), together.table(f"v{number}")
            if view != case.views[number - 1] or number == 0:
                first_of_kind, expected = mine, alone.table(f"v{first}")
                same = mine.num_rows > 0 and in_order(mine).equals(in_order(expected))
                assert same, f"{case.name}: v{number} differs: {mine.num_rows} rows, by itself {expected.num_rows}"
            assert mine.equals(first_of_kind), f"{case.name}: v{number} differs from the views that are equal to it"


def in_order(table: pa.Table) -> pa.Table:
    """The same rows in an order of their own."""
    return table.combine_chunks().sort_by([(name, "ascending") for name in table.column_names])


def measure(bench: Bench, case: Case, runtime: str, repeats: int, report: Report) -> None:
    """Tell what all views cost, against one of them, and in process what they cost if none shares."""
    bench.check(case, runtime)
    one, many, apart = bench.declare([case.views[case.one]], runtime), bench.declare(case.views, runtime), None
    if runtime == "fjord" and len(case.views) <= _WINDOWS:
        apart = bench.declare(case.views, runtime, alone=True)
    found: dict[str, list[float]] = {"one": [], "many": []}
    for _ in range(repeats):
        found["one"].append(bench.run(one, runtime, Counting()))
        found["many"].append(bench.run(many, runtime, Counting()))
    cost = {name: statistics.median(each) for name, each in found.items()}
    name = f"{runtime}, {len(case.views)} views, {case.name}"
    report.tell(f"{name}: one", cost["one"], "CPU s")
    report.tell(f"{name}: all", cost["many"], "CPU s")
    report.tell(f"{name}: ratio (target {case.target:g})", cost["many"] / cost["one"], "times")
    if apart:
        report.tell(f"{name}: ratio if none shares", bench.run(apart, runtime, Counting()) / cost["one"], "times")


def main() -> None:
    """Print ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files-a-batch", type=int, default=2)
    parser.add_argument("--equal", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--runtime", choices=("fjord", "spark"), action="append")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), given.files, given.rows)
        bench = Bench(Path(folder), given.files_a_batch * given.rows, given.master)
        for runtime in given.runtime or ("fjord", "spark"):
            for case in list_cases(given.equal):
                measure(bench, case, runtime, given.repeats, report)
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
