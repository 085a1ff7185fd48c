"""W5 (ii): a thousand averages over one stream, each for other segments, over windows of four sizes.

On Spark, all in one run; against the same by hand in Structured Streaming: a query each, of which some are measured and
scaled to all; and a query for each size of windows, whose averages are joined with a table of who wants which segments,
which is what one would write who knows all queries from the start. In this process, with a shared aggregate and with
one each. Rates are of the steady state; those by hand write Parquet as ours do. Answers of the queries that are
measured are counted by DuckDB too.

    python benchmarks/averages.py
    python benchmarks/averages.py --views 100 --files 6 --json averages.json
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
from _report import Report
from overload import Counting
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pipeline import Bench, make_files
from skerry.build.cut import cut_view
from skerry.database import Database, Settings, connect
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.files import FileSink
from skerry.spark.runtime import SparkRuntime
from skerry.spark.session import session

_SECONDS = (10, 30, 60, 300)
_WANTED = 3
_MEASURED = 8
_COLUMNS = "ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"


class Query(NamedTuple):
    """An average of some segments."""

    name: str
    seconds: int
    segments: tuple[int, ...]

    def sql(self) -> str:
        """As a view."""
        wanted = ", ".join(map(str, self.segments))
        return f"""CREATE MATERIALIZED VIEW {self.name} AS SELECT segment, window_start, AVG(speed) AS speed
            FROM TUMBLE(road, ts, INTERVAL '{self.seconds}' SECOND) WHERE segment IN ({wanted})
            GROUP BY segment, window_start"""


def queries(count: int) -> list[Query]:
    """The same on every run."""
    random = np.random.default_rng(7)
    chosen = [tuple(sorted(random.choice(100, _WANTED, replace=False).tolist())) for _ in range(count)]
    return [Query(f"v{n}", _SECONDS[n % len(_SECONDS)], segments) for n, segments in enumerate(chosen)]


def declared(data: Path, asked: Sequence[Query]) -> Database:
    """All of them over the files."""
    database = connect()
    source = f"CREATE SOURCE road ({_COLUMNS}) WITH (connector='file', path='{data}/*.parquet')"
    database.execute(";".join([source, *(query.sql() for query in asked)]))
    return database


def on_spark(bench: Bench, asked: Sequence[Query]) -> tuple[float, dict[str, int]]:
    """The rate of all in one run, and how many answers each has."""
    database = declared(bench.data, asked)
    settings = Settings(master=bench.spark.sparkContext.master, step_rows=bench.files_a_batch * bench.rows)
    with tempfile.TemporaryDirectory() as out:
        pipeline = database.pipeline(database.plans(), settings)
        run = SparkRuntime(pipeline, FileSink(Path(out), "parquet"), RunOptions(settings.master))
        outcome = run.run()
    return bench.rate(run.batch_seconds), dict(outcome.answers)


def in_process(bench: Bench, asked: Sequence[Query], *, shared: bool) -> tuple[float, dict[str, int]]:
    """The same here; answers are counted and forgotten."""
    database = declared(bench.data, asked)
    settings = Settings("fjord", step_rows=bench.files_a_batch * bench.rows)
    pipeline = database.pipeline(database.plans(), settings)
    if not shared:
        pipeline = Pipeline(pipeline.connectors, tuple(map(cut_view, database.plans())), settings.step_rows)
    ended, answers = [time.perf_counter()], dict.fromkeys((query.name for query in asked), 0)
    for outcome, _ in FjordRuntime(pipeline, Counting()).steps():
        ended.append(time.perf_counter())
        for view, count in outcome.answers.items():
            answers[view] += count
    return bench.rate(np.diff(ended).tolist()), answers


def averages(bench: Bench, seconds: int) -> DataFrame:
    """By hand: the average of all segments."""
    timed = bench.read().withColumn("ts", F.col("ts").cast("timestamp")).withWatermark("ts", "5 seconds")
    return timed.groupBy(F.window("ts", f"{seconds} seconds"), "segment").agg(F.avg("speed").alias("speed"))


def one_by_hand(bench: Bench, query: Query) -> float:
    """The rate of one query by itself. Its last windows stay open."""
    frame = averages(bench, query.seconds).where(F.col("segment").isin(*query.segments))
    return bench.stream(frame.select("segment", F.col("window.start").alias("window_start"), "speed"))[0]


def all_by_hand(bench: Bench, asked: Sequence[Query]) -> float:
    """The rate of all, by one query a size of windows after the other."""
    rates = []
    for seconds in _SECONDS:
        rows = [(query.name, segment) for query in asked if query.seconds == seconds for segment in query.segments]
        wanted = F.broadcast(bench.spark.createDataFrame(rows, "name STRING, segment INT"))
        joined = averages(bench, seconds).join(wanted, "segment")
        rates.append(bench.stream(joined.select("name", "segment", "window.start", "speed"))[0])
    return 1 / sum(1 / rate for rate in rates)


def check(data: Path, asked: Sequence[Query], answers: dict[str, int]) -> None:
    """Stop if DuckDB counts other answers."""
    for query in asked:
        grouped = f"""SELECT DISTINCT segment, epoch_us(ts) // {query.seconds * 1_000_000} AS number
            FROM read_parquet('{data}/*.parquet') WHERE segment IN {query.segments}"""
        ((expected,),) = duckdb.sql(f"SELECT count(*) FROM ({grouped})").fetchall()
        assert answers[query.name] == expected, f"{query.name} has {answers[query.name]} answers, DuckDB {expected}"


def measured(bench: Bench, count: int, repeats: int) -> dict[str, float]:
    """Rates in readings a second, in turns, the median of each."""
    asked = queries(count)
    some = asked[:_MEASURED]
    ours: dict[str, Callable[[], tuple[float, dict[str, int]]]] = {
        "in process, shared": lambda: in_process(bench, asked, shared=True),
        "in process, one each": lambda: in_process(bench, asked, shared=False),
        "on Spark": lambda: on_spark(bench, asked),
    }
    rates: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, case in ours.items():
            rate, answers = case()
            check(bench.data, some, answers)
            rates.setdefault(name, []).append(rate)
        each = [one_by_hand(bench, query) for query in some]
        rates.setdefault("by hand, a query each", []).append(1 / (count * statistics.mean(1 / rate for rate in each)))
        rates.setdefault("by hand, a query a size of windows", []).append(all_by_hand(bench, asked))
    return {name: statistics.median(found) for name, found in rates.items()}


def main() -> None:
    """Print rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--views", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files-a-batch", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), given.files, given.rows)
        bench = Bench(session(given.master), Path(folder), given.files, given.rows, given.files_a_batch)
        found = measured(bench, given.views, given.repeats)
    for name, rate in found.items():
        report.tell(name, rate, "readings/s")
    for other in (name for name in found if name.startswith("by hand")):
        report.tell(f"on Spark, to {other}", found["on Spark"] / found[other], "times")
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
