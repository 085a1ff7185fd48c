"""Run a pipeline on Spark."""

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import current_thread, main_thread

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from skerry import errors
from skerry.errors import RunError, SkerryError
from skerry.kernels.precompile import precompile_in_background
from skerry.pipeline.pipeline import Outcome, Pipeline, never
from skerry.pipeline.precompile import calls_of, kinds_of
from skerry.sinks.sink import Sink
from skerry.sources.tables import Tables
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.deliver import Deliver
from skerry.spark.envelope import SPARK_SCHEMA
from skerry.spark.foreign import foreign_envelopes, is_live
from skerry.spark.operate import Operate
from skerry.spark.progress import Progress
from skerry.spark.route import Routing
from skerry.spark.session import session
from skerry.spark.source import FORMAT, data_source
from skerry.spark.tables import TableStore
from skerry.subscriptions.versions import RegistryPlace

__all__ = ["SparkRun"]


class SparkRun:
    """One streaming query for all views of a pipeline."""

    def __init__(
        self,
        pipeline: Pipeline,
        sink: Sink,
        *,
        master: str,
        checkpoint: Path | None = None,
        script: str = "",
        register: Callable[[Path], RegistryPlace] | None = None,
    ) -> None:
        """``register`` makes the registry of subscriptions in a folder that all workers see."""
        self._sink = sink
        self.batch_seconds: list[float] = []
        """How long the last batches took, for those who measure."""
        self._live = pipeline.live or any(is_live(source) for source in pipeline.foreign)
        with (
            _own_interrupt(),
            precompile_in_background(kinds_of(pipeline), calls_of(pipeline, subscribed=register is not None)),
        ):
            self._spark = session(master)
        self._temporary = None if checkpoint else Path(tempfile.mkdtemp(prefix="skerry-"))
        folder = checkpoint or self._temporary
        assert folder is not None
        buckets = int(self._spark.conf.get("spark.sql.shuffle.partitions") or 1)
        self._checkpoint = Checkpoint(folder, buckets, script)
        registry = register(self._checkpoint.folder / "registry") if register else None
        self._pipeline = replace(pipeline, registry=registry)
        _ = self._pipeline.selections  # made here once, not in every task

    def run(self, *, stopped: Callable[[], bool] = never, watch: Callable[[Outcome], None] | None = None) -> Outcome:
        """Go on until the input is used up, or until told to stop; report after each batch."""
        self._checkpoint.take([os.getpid(), _jvm_process(self._spark)])
        try:
            return self._run(stopped, watch)
        finally:
            self._checkpoint.release()
            if self._temporary:
                shutil.rmtree(self._temporary, ignore_errors=True)

    def _run(self, stopped: Callable[[], bool], watch: Callable[[Outcome], None] | None) -> Outcome:
        self._sink.open(self._pipeline.outputs(), resume=self._checkpoint.resumed)
        progress = Progress(self._checkpoint.folder)
        tables = Tables(self._pipeline.tables, self._pipeline.base)
        store = TableStore(self._checkpoint.folder / "tables", tables)
        deliver = Deliver(self._pipeline, self._sink, progress, store, watch, self._checkpoint.run)
        deliver.tell(self._spark.sparkContext)
        self._finished(self._started(deliver, finish=False), stopped)
        if self._pipeline.foreign and not self._live and not stopped():
            self._finished(self._started(deliver, finish=True), stopped)
        self._sink.close()
        deliver.finish()
        return progress.total

    def _finished(self, query: StreamingQuery, stopped: Callable[[], bool]) -> None:
        _wait(query, stopped)
        self.batch_seconds += [told["durationMs"]["triggerExecution"] / 1000 for told in query.recentProgress]

    def _started(self, deliver: Deliver, *, finish: bool) -> StreamingQuery:
        frame = self._envelopes(finish=finish)
        if any(view.stateful for view in self._pipeline.views):
            operate = Operate(self._pipeline, self._checkpoint.run, self._sink.stager())
            frame = frame.groupBy("grp", "bucket").transformWithState(operate, SPARK_SCHEMA, "Append", "None")
        writer = frame.writeStream.foreachBatch(deliver).option(
            "checkpointLocation", str(self._checkpoint.folder / "spark")
        )
        if not self._live:
            writer = writer.trigger(availableNow=True)
        return writer.start()

    def _envelopes(self, *, finish: bool) -> DataFrame:
        tasks = self._spark.sparkContext.defaultParallelism
        routing = Routing(self._pipeline, self._checkpoint.bucket_count, self._sink.stager())
        made = data_source(routing, tasks, finish=finish)
        self._spark.dataSource.register(made)
        frame = self._spark.readStream.format(FORMAT).load()
        for number in range(len(self._pipeline.foreign)):
            frame = frame.union(foreign_envelopes(self._spark, routing, number))
        return frame


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep what is done about Ctrl-C: Spark, when it starts, would have it break off wherever it is."""
    if current_thread() is not main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _wait(query: StreamingQuery, stopped: Callable[[], bool]) -> None:
    """Until the query ends; told to stop, let the batch at hand end first."""
    try:
        while not query.awaitTermination(0.2):  # type: ignore[arg-type]
            if stopped():
                query.stop()
    except StreamingQueryException as error:
        raise _told(error) from error


def _told(error: StreamingQueryException) -> SkerryError:
    """What a worker complained of: as the error it raised there, if it was one of ours."""
    for kind, message in re.findall(r"^skerry\.errors\.(\w+): (.+)$", str(error), re.MULTILINE):
        found = getattr(errors, kind, None)
        if isinstance(found, type) and issubclass(found, errors.InputError):
            return errors.InputError(message)
        return RunError(message)
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    complaints = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b.*: ", line)]
    return RunError((complaints or lines)[-1])


def _jvm_process(spark: SparkSession) -> int:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    return int(jvm.java.lang.ProcessHandle.current().pid())
