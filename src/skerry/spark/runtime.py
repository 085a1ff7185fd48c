"""Run a pipeline on Spark."""

import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import current_thread, main_thread

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from skerry.errors import SkerryError
from skerry.history.recording import Recording
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.precompile import name_all_kernels, precompile_beside
from skerry.pipeline.runtime import RunOptions, never, raise_or_stop
from skerry.pipeline.watermark import find_held_back
from skerry.sinks.sink import Sink
from skerry.sources.spark import is_live
from skerry.sources.tables import Tables
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.complaints import SPARK_ERRORS, has_lost_a_worker, translate
from skerry.spark.deliver import Deliver
from skerry.spark.envelope import SPARK_SCHEMA
from skerry.spark.foreign import foreign_envelopes
from skerry.spark.functions import pack_functions
from skerry.spark.libraries import Libraries
from skerry.spark.operate import Operate
from skerry.spark.processor import Processor
from skerry.spark.redistribute import Redistribution
from skerry.spark.route import RouteSettings
from skerry.spark.session import PARTITIONS, session
from skerry.spark.source import FORMAT, make_data_source
from skerry.spark.tables import TableStore

__all__ = ["SparkRuntime"]

_log = logging.getLogger(__name__)
_ATTEMPTS = 8
"""How often a batch is begun: Spark has six kinds of Python processes, and may notice the loss of one at a time."""


class SparkRuntime:
    """One streaming query for all views of a pipeline."""

    def __init__(self, pipeline: Pipeline, sink: Sink, options: RunOptions | None = None) -> None:
        options = options or RunOptions()
        register = options.register
        self._sink, self._catalog = sink, options.catalog
        self._watch_sensors, self._record = options.watch_sensors, options.record
        self._recording: Recording | None = None
        self.batch_seconds: list[float] = []
        """How long the last batches took, for those who measure."""
        self._live = pipeline.live or any(is_live(source) for source in pipeline.foreign)
        kernels = name_all_kernels(pipeline, subscribed=register is not None)
        with _keep_interrupt(), precompile_beside(kernels, options.note):
            libraries = Libraries.of(options.spark_formats, options.spark_packages, options.spark_jars, pipeline.base)
            self._spark = session(options.master, rows_in_jvm=bool(pipeline.foreign), libraries=libraries)
        self._temporary = None if options.checkpoint else make_private_folder()
        folder = options.checkpoint or self._temporary
        assert folder is not None
        buckets = options.buckets or self._spark.sparkContext.defaultParallelism
        self._checkpoint = Checkpoint(folder, buckets, options.script, pipeline.step_rows, kept=self._temporary is None)
        self._wanted_buckets = options.buckets
        streams = [source for source in pipeline.own_sources if not source.is_table]
        registry = register(self._checkpoint.part("registry"), streams, self._checkpoint.begun) if register else None
        spooled = pipeline.spool_in(self._checkpoint.folder / "spool")
        self._pipeline = replace(spooled, registry=registry).divide(self._checkpoint.unit_rows).prepare()
        self._buckets = Redistribution(self._spark, self._pipeline.views, self._checkpoint)

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each batch."""
        self._checkpoint.take([os.getpid(), _jvm_process(self._spark)])
        try:
            return self._run(stopped, watch)
        finally:
            if self._recording:
                self._recording.release()
            self._checkpoint.release()
            if self._temporary:
                remove_private_folder(self._temporary)

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
        self._buckets.check(self._wanted_buckets)
        checkpoint, tables = self._checkpoint, Tables(self._pipeline.tables, self._pipeline.base, self._catalog)
        store = TableStore(checkpoint.part("tables"), tables, resumed=checkpoint.begun)
        if self._temporary is None:
            self._sink.claim(checkpoint.run, checkpoint.progress.next_batch)
        self._sink.open(self._pipeline.outputs(), resume=checkpoint.resumed)
        recording = self._recording = self._begin_recording()
        deliver = Deliver(self._pipeline, self._sink, checkpoint, store, watch, recording)
        self._buckets.change(self._wanted_buckets, partial(self._query, deliver, stopped, paused=True))
        with self._pipeline.receive(self._watch_sensors) as receivers:
            self._query(deliver, raise_or_stop(receivers.check, stopped))
        if self._pipeline.foreign and not self._live and not stopped():
            self._query(deliver, stopped, finish=True)
        self._sink.close()
        if recording:
            recording.close()
        deliver.finish()
        total = checkpoint.progress.total
        if not self._live and not stopped():
            return total
        return replace(total, held_back=find_held_back(self._pipeline.views, total.newest))

    def _begin_recording(self) -> Recording | None:
        """Let tasks keep what they accept, if it is to be kept."""
        checkpoint = self._checkpoint
        if not self._record:
            return None
        recording = self._record(checkpoint.run, checkpoint.progress.next_batch, self._temporary is None)
        self._pipeline = replace(self._pipeline, history=recording.writer).prepare()
        return recording

    def _query(
        self, deliver: Deliver, stopped: Callable[[], bool], *, finish: bool = False, paused: bool = False
    ) -> None:
        """Run Spark's query to its end. If it ends for having lost a process, go on as after a crash.

        ``finish`` ends the input after what is there, ``paused`` ends it after the batch that was broken off.
        Spark tries a task again by itself, and gives up where the lost process had planned the batch. Losing one over
        and over at the same batch is no accident.
        """
        attempts = Counter[int]()
        while True:
            deliver.inform(self._spark.sparkContext)
            try:
                return self._finish(self._start(deliver, finish=finish, paused=paused), stopped)
            except SPARK_ERRORS as error:
                batch = self._checkpoint.progress.next_batch
                attempts[batch] += 1
                if attempts[batch] >= _ATTEMPTS or not has_lost_a_worker(error):
                    raise translate(error, self._checkpoint.folder) from error
                _log.warning("batch %d is begun again: Spark has lost a Python process", batch)

    def _finish(self, query: StreamingQuery, stopped: Callable[[], bool]) -> None:
        _wait(query, stopped)
        self.batch_seconds += [progress["durationMs"]["triggerExecution"] / 1000 for progress in query.recentProgress]

    def _start(self, deliver: Deliver, *, finish: bool, paused: bool) -> StreamingQuery:
        frame = self._envelopes(finish=finish, paused=paused)
        layout = self._buckets.layout
        if any(view.stateful for view in self._pipeline.views):
            operate = Operate(self._pipeline, self._checkpoint.run, self._sink.part_writer(), layout, pack_functions())
            frame = frame.groupBy("grp", "bucket").transformWithState(
                Processor(operate), SPARK_SCHEMA, "Append", "None"
            )
        writer = frame.writeStream.foreachBatch(deliver).option(
            "checkpointLocation", str(self._checkpoint.folder / "spark")
        )
        if paused or not self._live:
            writer = writer.trigger(availableNow=True)
        with _tasks_by_key(self._spark, layout.bucket_count):
            return writer.start()

    def _envelopes(self, *, finish: bool, paused: bool) -> DataFrame:
        tasks = self._spark.sparkContext.defaultParallelism
        settings = RouteSettings(self._pipeline, self._buckets.layout, self._sink.part_writer(), pack_functions())
        beats = any(source.idle_timeout_us and is_live(source) for source in self._pipeline.foreign)
        made = make_data_source(settings, tasks, finish=finish, paused=paused, beats=beats)
        self._spark.dataSource.register(made)
        frame = self._spark.readStream.format(FORMAT).load()
        for number in range(len(self._pipeline.foreign)):
            frame = frame.union(foreign_envelopes(self._spark, settings, number))
        return frame


@contextmanager
def _keep_interrupt() -> Iterator[None]:
    """Keep what is done about Ctrl-C: Spark, when it starts, would have it break off wherever it is."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


@contextmanager
def _tasks_by_key(spark: SparkSession, count: int) -> Iterator[None]:
    """Let queries that start meanwhile have so many tasks behind a shuffle; Spark notes it in their checkpoints."""
    usual = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(count))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, str(usual))


def _wait(query: StreamingQuery, stopped: Callable[[], bool]) -> None:
    """Until the query ends; told to stop, let the batch at hand end first."""
    try:
        while not query.awaitTermination(0.2):  # type: ignore[arg-type]
            if stopped():
                query.stop()
    except SkerryError:
        query.stop()
        raise


def _jvm_process(spark: SparkSession) -> int:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    return int(jvm.java.lang.ProcessHandle.current().pid())
