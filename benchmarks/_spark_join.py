"""One contender of a benchmark of joins on Spark, in a process of its own.

``_spark_join.py WHO WHAT FOLDER BATCH_ROWS [MASTER]`` prints as JSON its rate in the steady state, how many answers it
gave, and the seconds of all batches.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds
from _steady import measure_rate
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from _workloads import WINDOW_US, complete_view, sources
from skerry.database import Settings, connect
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.runtime import RunOptions
from skerry.sinks.files import FileSink
from skerry.spark.runtime import SparkRuntime
from skerry.spark.session import session

_SCHEMA = "ts TIMESTAMP_NTZ, sensor LONG, val LONG"
_SPAN = "INTERVAL 60 SECONDS"

Measured = tuple[float, int, float]
"""Rows a second, answers, and the seconds of all batches."""


def skerry(folder: Path, what: str, batch_rows: int, master: str) -> Measured:
    """Through Skerry's pipeline. A batch takes as long as it is since the one before it was delivered."""
    names = _names(folder)
    view = complete_view(names) if what == "complete" else _gathered_view(names[0])
    database = connect()
    database.execute(f"{sources(names, folder)} CREATE MATERIALIZED VIEW answer AS {view}")
    pipeline = database.pipeline(database.plans(), Settings(master=master, step_rows=batch_rows))
    moments, read = [], [0]

    def watch(outcome: Outcome) -> None:
        moments.append(time.perf_counter())
        read.append(sum(tally.read for tally in outcome.tallies.values()))

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as out:
        run = SparkRuntime(pipeline, FileSink(Path(out), "parquet"), RunOptions(master))
        moments.append(time.perf_counter())
        run.run(watch=watch)
        answers = ds.dataset(Path(out) / "answer")
        found = answers.count_rows() if what == "complete" else _pairs(answers)
    seconds = np.diff(moments).tolist()
    return measure_rate(np.diff(read).tolist(), seconds), found, sum(seconds)


def native(folder: Path, what: str, batch_rows: int, master: str) -> Measured:
    """By hand in Structured Streaming. One event time may survive a join, so the others travel as numbers."""
    # Spark remembers a hundred batches, if it is not told otherwise.
    spark = session(master, {"spark.driver.memory": "8g", "spark.sql.streaming.numRecentProgressUpdates": "100000"})
    files = sum(1 for _ in folder.glob("s*/*.parquet"))
    a_batch = max(1, batch_rows * files // (len(_names(folder)) * _rows(folder)))

    def stream(name: str) -> DataFrame:
        reader = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", a_batch)
        timed = reader.parquet(str(folder / name)).withColumn("ts", F.col("ts").cast("timestamp"))
        return timed.withColumn("us", F.unix_micros("ts")).withWatermark("ts", "0 seconds")

    names = _names(folder)
    return _measured(_chained(stream, len(names)) if what == "complete" else _self_join(stream, names[0]))


def _pairs(answers: ds.Dataset) -> int:
    """How many members there are beside the readings that the answers are about."""
    lengths = [pc.list_value_length(batch.column("members")) for batch in answers.to_batches(columns=["members"])]
    return sum(pc.sum(each).as_py() or 0 for each in lengths) - answers.count_rows()


def _gathered_view(name: str) -> str:
    found = f"GATHER({name}, key => val, across => sensor, within => INTERVAL '60' SECOND, min_arity => 2)"
    return f"SELECT key, sensor, ts, arity, members FROM {found} AS g"


def _chained(stream: Callable[[str], DataFrame], streams: int) -> DataFrame:
    frame = stream("s0").selectExpr("val", "ts AS t0", "us AS u0")
    for number in range(1, streams):
        other = stream(f"s{number}").selectExpr("val AS v", "ts AS t", f"us AS u{number}")
        near = [f"abs(u{number} - u{one}) <= {WINDOW_US}" for one in range(1, number)]
        where = " AND ".join(["val = v", f"t BETWEEN t0 - {_SPAN} AND t0 + {_SPAN}", *near])
        frame = frame.join(other, F.expr(where)).select("val", "t0", *(f"u{one}" for one in range(number + 1)))
    return frame


def _self_join(stream: Callable[[str], DataFrame], name: str) -> DataFrame:
    other = stream(name).selectExpr("ts AS t", "us AS u", "sensor AS s", "val AS v")
    earlier = "(t < ts OR t = ts AND s < sensor)"
    where = f"val = v AND sensor <> s AND t BETWEEN ts - {_SPAN} AND ts AND {earlier}"
    return stream(name).join(other, F.expr(where)).select("val", "us", "sensor", "u", "s")


def _measured(frame: DataFrame) -> Measured:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as checkpoint:
        counted = frame.observe("answers", F.count(F.lit(1)).alias("rows"))
        writer = counted.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
    told = query.recentProgress
    answers = sum(one["observedMetrics"]["answers"]["rows"] for one in told if one["observedMetrics"])
    full = [one for one in told if one["numInputRows"]]
    seconds = [one["durationMs"]["triggerExecution"] / 1000 for one in full]
    return measure_rate([one["numInputRows"] for one in full], seconds), answers, sum(seconds)


def _names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def _rows(folder: Path) -> int:
    return sum(ds.dataset(folder / name).count_rows() for name in _names(folder))


if __name__ == "__main__":
    who, what, folder, batch_rows, *masters = sys.argv[1:]
    contender = {"skerry": skerry, "native": native}[who]
    rate, answers, seconds = contender(Path(folder), what, int(batch_rows), *masters or ["local[2]"])
    print(json.dumps({"rate": rate, "answers": answers, "seconds": seconds}))
