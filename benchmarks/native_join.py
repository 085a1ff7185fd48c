"""The complete join written by hand in Structured Streaming: a chain of stream-stream joins with watermarks."""

import tempfile
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from workloads import WINDOW_US

_SCHEMA = "ts TIMESTAMP_NTZ, sensor LONG, val LONG"


class Native:
    """One event time may survive a join, so the others travel as numbers."""

    def __init__(self, spark: SparkSession, folder: Path, streams: int, files_a_batch: int) -> None:
        self._spark, self._folder, self._streams, self._files = spark, folder, streams, files_a_batch

    def measure(self, total: int) -> tuple[float, int]:
        """Rows a second over the batches after the first, where there are several; and the answers."""
        with tempfile.TemporaryDirectory() as checkpoint:
            counted = self._joined().observe("answers", F.count(F.lit(1)).alias("rows"))
            writer = counted.writeStream.format("noop").option("checkpointLocation", checkpoint)
            query = writer.trigger(availableNow=True).start()
            query.awaitTermination()
        told = query.recentProgress
        answers = sum(one["observedMetrics"]["answers"]["rows"] for one in told if one["observedMetrics"])
        full = [one for one in told if one["numInputRows"]]
        full = full[1:] or full
        rows = sum(one["numInputRows"] for one in full)
        return rows / sum(one["durationMs"]["triggerExecution"] / 1000 for one in full), answers

    def _stream(self, number: int) -> DataFrame:
        reader = self._spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", self._files)
        timed = reader.parquet(str(self._folder / f"s{number}")).withColumn("ts", F.col("ts").cast("timestamp"))
        return timed.withColumn("us", F.unix_micros("ts")).withWatermark("ts", "0 seconds")

    def _joined(self) -> DataFrame:
        frame = self._stream(0).selectExpr("val", "ts AS t0", "us AS u0")
        for number in range(1, self._streams):
            other = self._stream(number).selectExpr("val AS v", "ts AS t", f"us AS u{number}")
            near = [f"abs(u{number} - u{one}) <= {WINDOW_US}" for one in range(1, number)]
            span = "INTERVAL 60 SECONDS"
            where = " AND ".join(["val = v", f"t BETWEEN t0 - {span} AND t0 + {span}", *near])
            kept = ["val", "t0", *(f"u{one}" for one in range(number + 1))]
            frame = frame.join(other, F.expr(where)).select(*kept)
        return frame
