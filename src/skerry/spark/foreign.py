"""Connector ``spark``: any source that Spark can read, routed in ``mapInArrow``.

``spark_format`` names the format, and an option ``spark.NAME`` is handed to Spark as ``NAME``. Formats
that read files are bounded: what is there is read, then the run ends. All others are live.
"""

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JJavaError
from pyspark import TaskContext
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.batch import empty, join
from skerry.model.time import Micros
from skerry.model.types import sql_name
from skerry.sources.ahead import AheadLimit
from skerry.sources.dead_letters import make_dead_letters
from skerry.sources.file.generated import add_generated
from skerry.sources.source import REJECTS, Decoded, Split
from skerry.sources.spark import SparkConnector, is_live
from skerry.spark.envelope import SPARK_SCHEMA
from skerry.spark.libraries import explain_missing_format
from skerry.spark.route import RouteSettings

__all__ = ["foreign_envelopes"]

_NOW = "#now"
"""The column that says when the batch began. No declared column is called so."""
_FIRST_TASK = 1_000_000
"""Tasks of the n-th foreign source are numbered from n times this, apart from Skerry's own."""


_SPARK_TYPES = {
    "TIMESTAMP": "TIMESTAMP_NTZ",
    "TIMESTAMPTZ": "TIMESTAMP",
    "UBIGINT": "DECIMAL(20, 0)",
    "UINTEGER": "BIGINT",
    "USMALLINT": "INT",
    "UTINYINT": "SMALLINT",
    "VARCHAR": "STRING",
}


def foreign_envelopes(spark: SparkSession, settings: RouteSettings, number: int) -> DataFrame:
    """The ``number``-th foreign source of a pipeline, as envelopes."""
    source = settings.pipeline.foreign[number]
    route = _make_route(settings, source, _FIRST_TASK * (number + 1))
    return _load(spark, source).mapInArrow(route, SPARK_SCHEMA)


def _load(spark: SparkSession, source: Source) -> DataFrame:
    found = SparkConnector.parse(source)
    reader = spark.readStream.format(found.name)
    if not is_live(source):
        reader = reader.schema(", ".join(f"`{field.name}` {_spark_type(field.type)}" for field in source.stored_schema))
    reader = reader.options(**found.options)
    try:
        return _select_declared(reader.load(), source)
    except (PySparkException, Py4JJavaError) as error:
        message = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else str(error)
        if "DATA_SOURCE_NOT_FOUND" in message or "Failed to find" in message:
            instead = explain_missing_format(found.name, spark.version)
            raise SourceError(f"source {source.name!r}: Spark has no format {found.name!r}; {instead}") from None
        raise SourceError(f"Spark cannot open source {source.name!r}: {message.splitlines()[0]}") from None


def _select_declared(frame: DataFrame, source: Source) -> DataFrame:
    """The declared columns, in their order and types; what does not cast is NULL."""
    stored = source.stored_schema
    missing = [name for name in stored.names if name not in frame.columns]
    if missing:
        raise SourceError(f"source {source.name!r} has no column {missing[0]!r}; it has {', '.join(frame.columns)}")
    declared = [F.col(f"`{field.name}`").try_cast(_spark_type(field.type)).alias(field.name) for field in stored]
    # Spark fixes the time with the batch and logs it: a batch that runs again has the same.
    return frame.select(*declared, F.unix_micros(F.current_timestamp()).alias(_NOW))


def _spark_type(type_: pa.DataType) -> str:
    """The type under Spark's name; it has no numbers without a sign, but wider ones."""
    if pa.types.is_list(type_):
        return f"ARRAY<{_spark_type(type_.value_type)}>"
    name = sql_name(type_)
    return _SPARK_TYPES.get(name, name)


def _make_route(
    given: RouteSettings, source: Source, first_task: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def route(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        settings = given.see_batch()
        router = settings.make_router(first_task + context.partitionId(), [source.name])
        gate = router.intake.open_gate(source, ordered=False)
        stamp = settings.pipeline.make_stamp(Split(source.name, str(context.partitionId()), 0, 1))
        for batch in batches:
            now = batch.column(_NOW)[0].as_py() if batch.num_rows else 0
            stored = batch.select(source.stored_schema.names).cast(source.stored_schema)
            timed, timeless = _split_off_timeless(add_generated(stored, source), source)
            readings, ahead = _split_off_ahead(timed, source, now, gate.newest)
            decoded = Decoded(readings, join([timeless, ahead], REJECTS))
            readings, rejects = router.intake.check_keys(source.name, decoded, source.name)
            router.intake.admit(source, gate, stamp.put_on(readings) if stamp else readings, rejects)
        router.intake.note_newest(source.name, gate.newest)
        router.intake.note_heard(source.name, gate.newest)
        yield settings.send(router.envelopes(done=False))

    return route


def _split_off_timeless(readings: pa.RecordBatch, source: Source) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Tell readings without an event time from the others."""
    if source.event_time is None or not readings.column(source.event_time).null_count:
        return readings, empty(REJECTS)
    timeless = readings.column(source.event_time).is_null()
    rows = readings.filter(timeless).to_pylist()
    return readings.filter(pc.invert(timeless)), _reject(source, rows, [f"{source.event_time} is missing"] * len(rows))


def _split_off_ahead(
    readings: pa.RecordBatch, source: Source, now: int, newest: Micros
) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Tell readings whose clock is ahead from the others: of a live source ahead of now, else of those around them."""
    limit = AheadLimit.of(source)
    if limit is None or source.event_time is None or not readings.num_rows:
        return readings, empty(REJECTS)
    times = readings.column(source.event_time).cast(pa.int64()).to_numpy()
    live = is_live(source)
    marks = times > now + limit.clock_us if live else limit.mark(times, times[:0], newest)[0]
    if not marks.any():
        return readings, empty(REJECTS)
    moments = times[marks].tolist()
    reasons = [(limit.explain_by_clock if live else limit.explain)(source.event_time, moment) for moment in moments]
    rows = readings.filter(pa.array(marks)).to_pylist()
    return readings.filter(pa.array(~marks)), _reject(source, rows, reasons)


def _reject(source: Source, rows: list[dict[str, object]], reasons: Sequence[str]) -> pa.RecordBatch:
    return make_dead_letters(reasons, [str(row) for row in rows], [source.name] * len(rows))
