"""Answers of a view, written by Spark in any format that it knows.

What a batch that runs again leaves depends on the format. Files (parquet, orc, json, csv) are written to one folder per
batch, ``PATH/batch=00000007``, and replaced. Delta is told the run and the batch, and takes each once. Into all others
(jdbc, kafka, iceberg) rows are appended: after a crash, those of the last batch may be there twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from skerry.errors import OptionError, RunError
from skerry.model.batch import empty
from skerry.model.spark_format import SparkFormat
from skerry.sinks.sink import Sink
from skerry.sinks.values import to_text
from skerry.spark.complaints import find_cause
from skerry.spark.libraries import explain_missing_format

__all__ = ["FILES", "SparkSink"]

FILES = ("csv", "json", "orc", "parquet")
"""Formats that are folders of files."""
_ROWS_PER_FILE = 1_000_000
_FAILURES = (PySparkException, Py4JJavaError)
_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""Spark has no numbers without a sign, but wider ones."""


class SparkSink(Sink):
    """Writes one view's answers with Spark, from the driver, a batch at a time."""

    def __init__(self, view: str, written: SparkFormat) -> None:
        self._view, self._written = view, written
        self._is_files = written.name.lower() in FILES
        self._run, self._batches = uuid4().hex, 0
        self._schemas: dict[str, pa.Schema] = {}
        self._has_rows = False
        path = written.options.get("path")
        if self._is_files and not path:
            raise OptionError(f"view {view!r} is written as {written.name}, so it needs 'spark.path'")
        self._path = path or ""

    def claim(self, run: str, batches: int) -> None:
        """Batches are known by their run, so that one that comes again is known to have come before."""
        self._run, self._batches = run, batches

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """See that Spark knows the format; remove folders of batches of an earlier run, or that were not recorded."""
        self._schemas = dict(outputs)
        spark = SparkSession.active()
        self._check_format(spark)
        if self._is_files:
            kept = self._batches if resume else 0
            self._remove_batches(spark, kept)

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Write a batch that has rows."""
        if not rows.num_rows:
            return
        self._has_rows = True
        try:
            self._save(rows, number)
        except _FAILURES as error:
            cause = find_cause(str(error))
            raise RunError(f"Spark cannot write view {self._view!r} as {self._written.name}: {cause}") from None

    def close(self) -> None:
        """Leave files without rows, if there are none with, so that the columns can be read."""
        for schema in self._schemas.values() if self._is_files and not self._has_rows and not self._batches else ():
            self._save(empty(schema), 0)

    def _save(self, rows: pa.RecordBatch, number: int) -> None:
        frame = SparkSession.active().createDataFrame(to_spark(rows))
        frame = frame.coalesce(max(1, rows.num_rows // _ROWS_PER_FILE))
        writer = frame.write.format(self._written.name)
        if self._is_files:
            folder = f"{self._path.rstrip('/')}/{_name_folder(number)}"
            writer.options(**{**self._written.options, "path": folder}).mode("overwrite").save()
        else:
            writer.options(**{**self._written.options, **self._identify(number)}).mode("append").save()

    def _identify(self, number: int) -> dict[str, str]:
        """What tells a format that can see to it which batch this is: each is taken once."""
        if self._written.name.lower() != "delta":
            return {}
        return {"txnAppId": f"skerry {self._run} {self._view}", "txnVersion": str(number)}

    def _check_format(self, spark: SparkSession) -> None:
        jvm, session = spark._jvm, spark._jsparkSession
        assert jvm is not None
        try:
            jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
                self._written.name, session.sessionState().conf()
            )
        except _FAILURES:
            instead = explain_missing_format(self._written.name, spark.version)
            message = f"view {self._view!r}: Spark has no format {self._written.name!r}; {instead}"
            raise OptionError(message) from None

    def _remove_batches(self, spark: SparkSession, kept: int) -> None:
        """Remove the folders of all batches from one number on, wherever the path is."""
        jvm: Any = spark._jvm
        folder = jvm.org.apache.hadoop.fs.Path(self._path)
        try:
            files = folder.getFileSystem(spark._jsc.hadoopConfiguration())
            for status in files.listStatus(folder) if files.exists(folder) else ():
                number = _read_number(status.getPath().getName())
                if number is not None and number >= kept:
                    files.delete(status.getPath(), True)
        except Py4JJavaError as error:
            cause = find_cause(str(error.java_exception))
            raise OptionError(f"view {self._view!r} cannot be written to {self._path!r}: {cause}") from None


def to_spark(rows: pa.RecordBatch) -> pa.Table:
    """Rows in types that Spark has: wider numbers, and texts for what it has no word for.

    >>> to_spark(pa.record_batch({"n": pa.array([1], pa.uint32())})).schema.field("n").type
    DataType(int64)
    """
    columns = [_convert(column) for column in rows.columns]
    return pa.table(columns, rows.schema.names)


def _convert(column: Any) -> Any:
    if pa.types.is_time(column.type):
        return column.cast(pa.string())
    if pa.types.is_interval(column.type):
        return to_text(column)
    return column.cast(_WIDER[column.type]) if column.type in _WIDER else column


def _name_folder(number: int) -> str:
    return f"batch={number:08d}"


def _read_number(name: str) -> int | None:
    """The batch that a folder is of; None if it is of none.

    >>> _read_number("batch=00000012"), _read_number("_SUCCESS")
    (12, None)
    """
    key, _, digits = name.partition("=")
    return int(digits) if key == "batch" and digits.isdecimal() else None
