r"""W5 (i): a selection and a grouped window average through the Spark pipeline.

Side by side in one Spark session: Skerry's fused source, Skerry behind Spark's own file source
(connector ``spark``), the same queries by hand in Structured Streaming, and an identity
``mapInArrow``. All read the same Parquet files and write Parquet. A rate is that of the steady state: what begins in
the first third of a run's time is left out. Rates are medians over repeats: Java goes on compiling for some of them.

    python benchmarks/pipeline.py --files 96 --rows 1000000 --files-a-batch 16 --json pipeline.json
    python benchmarks/pipeline.py --files 192 --files-a-batch 64 --repeats 7 \
        --only "selection, native" "selection, skerry fused"
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from _steady import measure_rate
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skerry.database import Settings, connect
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.files import FileSink
from skerry.spark.runtime import SparkRuntime
from skerry.spark.session import session

_SCHEMA = "ts TIMESTAMP_NTZ, segment INT, speed DOUBLE"
_SEGMENTS = 100
_ROWS_A_SECOND = 20_000

QUERIES = {
    "average": """CREATE MATERIALIZED VIEW answer AS SELECT segment, window_start, AVG(speed) AS speed
        FROM TUMBLE(road, ts, INTERVAL '30' SECOND) GROUP BY segment, window_start""",
    "selection": "CREATE MATERIALIZED VIEW answer AS SELECT ts, segment, speed FROM road WHERE speed < 5",
}


def make_files(folder: Path, files: int, rows: int, compression: str = "snappy") -> None:
    """Readings in order of time, a little disordered, the same on every run."""
    random = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        moments = (np.arange(rows) + number * rows) * (1_000_000 // _ROWS_A_SECOND) + random.integers(
            0, 1_000_000, rows
        )
        table = pa.table(
            {
                "ts": pa.array(moments + 1_700_000_000_000_000, pa.timestamp("us")),
                "segment": pa.array(random.integers(0, _SEGMENTS, rows), pa.int32()),
                "speed": random.random(rows) * 100,
            }
        )
        pq.write_table(table, folder / f"{number:04d}.parquet", compression=compression)


class Bench:
    """One data set, one session, one way of measuring."""

    def __init__(self, spark: SparkSession, data: Path, files: int, rows: int, files_a_batch: int) -> None:
        self.spark, self.data, self.files, self.rows, self.files_a_batch = spark, data, files, rows, files_a_batch

    def rate(self, batch_seconds: list[float]) -> float:
        """Rows a second in the steady state; the last batch may have no rows, if it ends the input."""
        full = batch_seconds[: self.files // self.files_a_batch]
        return measure_rate([self.files_a_batch * self.rows] * len(full), full)

    def skerry(self, query: str, connector: str) -> tuple[float, int]:
        """Skerry's rate, and how many rows it gave."""
        database = connect()
        columns = "ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
        database.execute(f"CREATE SOURCE road ({columns}) WITH ({connector}); {QUERIES[query]}")
        settings = Settings(master=self.spark.sparkContext.master, step_rows=self.files_a_batch * self.rows)
        with tempfile.TemporaryDirectory() as out:
            pipeline = database.pipeline(database.plans(), settings)
            run = SparkRuntime(pipeline, FileSink(Path(out), "parquet"), RunOptions(settings.master))
            outcome = run.run()
        return self.rate(run.batch_seconds), outcome.answers["answer"]

    def fused(self, query: str) -> tuple[float, int]:
        """Skerry's own source."""
        return self.skerry(query, f"connector='file', path='{self.data}/*.parquet'")

    def behind_spark(self, query: str) -> tuple[float, int]:
        """Spark's source, Skerry in mapInArrow."""
        limit = f"spark.maxFilesPerTrigger='{self.files_a_batch}'"
        return self.skerry(query, f"connector='spark', spark_format='parquet', spark.path='{self.data}', {limit}")

    def native(self, query: str) -> tuple[float, int]:
        """The same query by hand."""
        frame = self.read()
        if query == "average":
            timed = frame.withColumn("ts", F.col("ts").cast("timestamp")).withWatermark("ts", "5 seconds")
            grouped = timed.groupBy(F.window("ts", "30 seconds"), "segment").agg(F.avg("speed").alias("speed"))
            return self.stream(grouped.select("segment", F.col("window.start").alias("window_start"), "speed"))
        return self.stream(frame.where("speed < 5"))

    def identity(self) -> tuple[float, int]:
        """What it costs to carry rows into Python and back."""
        return self.stream(self.read().mapInArrow(lambda batches: batches, _SCHEMA), sink="noop")

    def read(self) -> DataFrame:
        """The files, as Spark reads them."""
        reader = self.spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", self.files_a_batch)
        return reader.parquet(str(self.data))

    def stream(self, frame: DataFrame, sink: str = "parquet") -> tuple[float, int]:
        """Run a frame to its end."""
        with tempfile.TemporaryDirectory() as folder:
            writer = frame.writeStream.format(sink).option("checkpointLocation", f"{folder}/checkpoint")
            query = writer.option("path", f"{folder}/out").trigger(availableNow=True).start()
            query.awaitTermination()
            seconds = [told["durationMs"]["triggerExecution"] / 1000 for told in query.recentProgress]
            rows = self.spark.read.parquet(f"{folder}/out").count() if sink == "parquet" else 0
        return self.rate(seconds), rows


def fixed_price(spark: SparkSession, rounds: int = 24) -> dict[str, float]:
    """The mean seconds of a batch of a hundred rows, in the steady state."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), rounds, 100)
        bench = Bench(spark, Path(folder), rounds, 100, 1)
        cases: dict[str, Callable[[], tuple[float, int]]] = {
            "stateful, skerry": lambda: bench.fused("average"),
            "stateless, skerry": lambda: bench.fused("selection"),
            "stateful, native": lambda: bench.native("average"),
            "stateless, native": lambda: bench.native("selection"),
        }
        for name, case in cases.items():
            rate, _ = case()
            found[name] = round(100 / rate, 3)
    return found


def cases_of(bench: Bench, only: Collection[str]) -> dict[str, Callable[[], tuple[float, int]]]:
    """What there is to measure, by name; of these the ones asked for, or all."""
    cases: dict[str, Callable[[], tuple[float, int]]] = {"identity": bench.identity}
    for query in QUERIES:
        cases[f"{query}, native"] = lambda query=query: bench.native(query)
        cases[f"{query}, skerry fused"] = lambda query=query: bench.fused(query)
        cases[f"{query}, skerry behind spark"] = lambda query=query: bench.behind_spark(query)
    return {name: case for name, case in cases.items() if not only or name in only}


def measure(bench: Bench, repeats: int, only: Collection[str] = ()) -> dict[str, dict[str, float]]:
    """Cases in turns, so that a noisy moment hits them alike; the median of each."""
    cases = cases_of(bench, only)
    rates: dict[str, list[float]] = {name: [] for name in cases}
    rows: dict[str, int] = {}
    for _ in range(repeats):
        for name, case in cases.items():
            rate, rows[name] = case()
            rates[name].append(rate)
            print(f"  {name}: {rate / 1e6:.2f} M rows/s, {rows[name]} answers", flush=True)
    for query in QUERIES:
        # Native Spark leaves the last windows of an average open.
        given = {name: rows[name] for name in cases if name.startswith(query) and name != "average, native"}
        assert len(set(given.values())) <= 1, f"answers differ in number: {given}"
    return {name: {"rows_a_second": statistics.median(found), "answers": rows[name]} for name, found in rates.items()}


def main() -> None:
    """Print a table of ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=96)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files-a-batch", type=int, default=16)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--compression", default="snappy", help="of the Parquet files: snappy, zstd, none")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--only", nargs="+", default=[], metavar="CASE", help="measure these cases, and no fixed price")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    spark = session(given.master)
    data = Path(tempfile.mkdtemp(prefix="skerry-bench-"))
    try:
        make_files(data, given.files, given.rows, given.compression)
        bench = Bench(spark, data, given.files, given.rows, given.files_a_batch)
        found = measure(bench, given.repeats, given.only)
    finally:
        shutil.rmtree(data)
    prices = {} if given.only else fixed_price(spark)
    report(found, prices)
    if given.json:
        given.json.write_text(json.dumps({"rates": found, "fixed_price_seconds": prices}, indent=2))


def report(found: dict[str, dict[str, float]], prices: dict[str, float]) -> None:
    """Rates beside what they are measured against."""
    print(f"{'case':40} {'M rows/s':>9} {'of native':>10} {'of identity':>12}")
    for name, told in found.items():
        against = [_ratio(told, found.get(other)) for other in (f"{name.split(',')[0]}, native", "identity")]
        print(f"{name:40} {told['rows_a_second'] / 1e6:>9.2f} {against[0]:>10} {against[1]:>12}")
    for name, seconds in prices.items():
        print(f"fixed price of a batch, {name}: {seconds:.2f} s")


def _ratio(told: dict[str, float], other: dict[str, float] | None) -> str:
    return f"{told['rows_a_second'] / other['rows_a_second']:.2f}" if other else "-"


if __name__ == "__main__":
    main()
