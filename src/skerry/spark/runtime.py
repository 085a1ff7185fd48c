"""Run a pipeline on Spark."""

import logging
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import current_thread, main_thread

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.errors import SkerryError
from skerry.history.recording import Recording
from skerry.model.private_folder import make_private_folder, remove_private_folder
from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.backfill import check_backfill
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.precompile import name_all_kernels, precompile_beside
from skerry.pipeline.runtime import RunOptions, never, raise_or_stop
from skerry.pipeline.view_versions import ViewVersions
from skerry.pipeline.watermark import find_held_back
from skerry.replay.share import InputShare
from skerry.sinks.sink import Sink
from skerry.sources.source import Connector
from skerry.sources.spark import is_live
from skerry.sources.tables import Tables
from skerry.spark.changing_views import ChangingViews
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.complaints import SPARK_ERRORS, has_lost_a_worker, translate
from skerry.spark.deliver import Deliver
from skerry.spark.envelope import SPARK_SCHEMA
from skerry.spark.foreign import foreign_envelopes
from skerry.spark.functions import pack_functions
from skerry.spark.libraries import Libraries
from skerry.spark.operate import Operate
from skerry.spark.plan_files import PlanFiles, clear_plans
from skerry.spark.processor import Processor
from skerry.spark.redistribute import Redistribution
from skerry.spark.route import RouteSettings
from skerry.spark.session import PARTITIONS, session
from skerry.spark.source import FORMAT, make_data_source
from skerry.spark.tables import TableStore
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["SparkRuntime"]

Register = Callable[[SealedFolder, Sequence[Source], bool], RegistryFolder]
"""Makes the registry of subscriptions to some streams in a folder, or finds it there if a run goes on."""
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
        self._takes_history = options.backfill
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
        clear_plans(self._checkpoint.folder)
        self._views = self._begin_views(options.views, pipeline, register)
        if self._views is None:
            streams = [source for source in pipeline.own_sources if not source.is_table]
            connectors = tuple(map(self._fit, pipeline.connectors))
            registry = self._register(register, streams) if register else None
            self._own_pipeline = replace(pipeline, connectors=connectors, registry=registry).prepare()
        self._buckets = Redistribution(self._spark, self._list_last_views, self._checkpoint)

    def _begin_views(
        self, versions: ViewVersions | None, pipeline: Pipeline, register: Register | None
    ) -> ChangingViews | None:
        """Begin with the views of a pipeline, or go on with those of a run that went before, if they come and go."""
        if versions is None:
            return None
        checkpoint = self._checkpoint
        views = ChangingViews(versions, PlanFiles.make_in(checkpoint.folder), checkpoint.log, checkpoint.run)
        kept = checkpoint.part("views") if self._temporary is None else None
        views.start(kept, pipeline, self._fit, partial(self._register, register) if register else None)
        return views

    def _fit(self, connector: Connector) -> Connector:
        """A source as the checkpoint counts its units, which keeps what it receives where tasks find it."""
        folder = self._checkpoint.folder / "spool" / connector.definition.name
        spooled = connector.spool_in(folder, is_kept=self._temporary is None)
        return spooled.divide(self._checkpoint.unit_rows)

    def _register(self, register: Register, streams: Sequence[Source]) -> RegistryFolder:
        return register(self._checkpoint.part("registry"), streams, self._checkpoint.begun)

    @property
    def _pipeline(self) -> Pipeline:
        """What runs now."""
        return self._views.pipeline if self._views else self._own_pipeline

    def _list_last_views(self) -> Mapping[int, CutView]:
        """The views whose state there is after the last batch."""
        return (self._views.read_last() if self._views else self._own_pipeline).views_by_number

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each batch."""
        self._checkpoint.take([os.getpid(), _jvm_process(self._spark)])
        try:
            return self._run(stopped, watch)
        finally:
            if self._recording:
                self._recording.release()
            clear_plans(self._checkpoint.folder)
            self._checkpoint.release()
            if self._temporary:
                remove_private_folder(self._temporary)

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
        self._buckets.check(self._wanted_buckets)
        newest = self._views.newest if self._views else self._pipeline
        checkpoint, tables = self._checkpoint, Tables(newest.tables, newest.base, self._catalog)
        store = TableStore(checkpoint.part("tables"), tables, resumed=checkpoint.begun)
        if self._temporary is None:
            self._sink.claim(checkpoint.run, checkpoint.progress.next_batch)
        self._sink.open(self._pipeline.outputs(), resume=checkpoint.resumed)
        recording = self._recording = self._begin_recording()
        for view in self._pipeline.views if self._takes_history and not checkpoint.begun else ():
            check_backfill(view.view, self._pipeline)
        if self._views:
            self._views.publish(tables)
        if watch and not newest.foreign:
            watch = partial(self._tell, watch, InputShare(newest.connectors))
        deliver = Deliver(self._pipeline, self._sink, checkpoint, store, watch, recording, self._views)
        self._buckets.change(self._wanted_buckets, partial(self._query, deliver, stopped, paused=True))
        with newest.receive(self._watch_sensors) as receivers:
            check = receivers.check
            if self._views:
                self._views.receive(receivers.add)
                check = partial(_look, receivers.check, self._views)
            self._query(deliver, raise_or_stop(check, stopped))
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

    def _tell(self, watch: Callable[[Outcome], None], share: InputShare, total: Outcome) -> None:
        """Tell how far the run has come, with the share of its input: what Spark reads itself, nobody can count."""
        position = self._checkpoint.log.read_position(self._checkpoint.progress.next_batch - 1)
        watch(replace(total, share=share.at(position, total.read_by_source)))

    def _begin_recording(self) -> Recording | None:
        """Let tasks keep what they accept, if it is to be kept."""
        checkpoint = self._checkpoint
        if not self._record:
            return None
        recording = self._record(checkpoint.run, checkpoint.progress.next_batch, self._temporary is None)
        if self._views:
            self._views.record_with(recording.writer)
        else:
            self._own_pipeline = replace(self._own_pipeline, history=recording.writer).prepare()
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
        # Spark keeps the plan of its first batch: where views may come, it has a stage for their state from the start.
        if self._plans or any(view.stateful for view in self._pipeline.views):
            run, parts = self._checkpoint.run, self._sink.part_writer()
            operate = Operate(self._pipeline, run, parts, layout, pack_functions(), self._plans)
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

    @property
    def _plans(self) -> PlanFiles | None:
        """Where workers find the versions of the views, if these come and go."""
        return self._views.plans if self._views else None

    def _envelopes(self, *, finish: bool, paused: bool) -> DataFrame:
        tasks = self._spark.sparkContext.defaultParallelism
        layout, writer = self._buckets.layout, self._sink.part_writer()
        settings = RouteSettings(self._pipeline, layout, writer, pack_functions(), plans=self._plans)
        beats = any(source.idle_timeout_us and is_live(source) for source in self._pipeline.foreign)
        made = make_data_source(settings, tasks, finish=finish, paused=paused, beats=beats)
        self._spark.dataSource.register(made)
        frame = self._spark.readStream.format(FORMAT).load()
        for number in range(len(self._pipeline.foreign)):
            frame = frame.union(foreign_envelopes(self._spark, settings, number))
        return frame


def _look(check: Callable[[], None], views: ChangingViews) -> None:
    """Raise what went wrong, and let views come and go also while there is no batch."""
    check()
    views.look()


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
