"""Views that come and go while a run goes on, on the driver.

What has changed in the catalogue becomes a version (``pipeline.view_versions``), and is written down for the workers
(``spark.plan_files``). The planner of steps finds the newest version there and puts it into the position that Spark
logs ahead of a batch. When the batch is about to run, its version is read from Spark's log, and from the position
before what has come and gone with it: so a batch that runs again, whoever runs it, sees the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from threading import RLock

import pyarrow as pa

from skerry.catalog import Source
from skerry.history.writer import HistoryWriter
from skerry.model.sealed_folder import SealedFolder
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.view_versions import ViewVersions
from skerry.sources.source import Connector
from skerry.sources.tables import Tables
from skerry.spark.batch_views import BatchViews
from skerry.spark.plan_files import PlanFiles, PlanWriter
from skerry.spark.read_history import find_beginnings
from skerry.spark.route import live_buckets
from skerry.spark.spark_log import SparkLog
from skerry.subscriptions.versions import RegistryFolder

__all__ = ["ChangingViews"]


class ChangingViews:
    """The versions of a run's views, as its batches see them.

    ``plans`` is where workers find them. ``pipeline`` is that of the last batch that has begun; ``came`` are the
    outputs that came with it, and ``changes`` is the account of what came and went.

    Two threads look for news: the one that delivers batches, between two of them, and the one that waits for the run to
    end, while nothing is delivered.
    """

    def __init__(self, versions: ViewVersions, plans: PlanFiles, log: SparkLog, run: str) -> None:
        self._versions, self.plans, self._log, self._run = versions, plans, log, run
        self._writer = PlanWriter(plans)
        self._tables: Tables | None = None
        self._before = 0
        self.lock = RLock()
        self.pipeline: Pipeline
        self.came: Mapping[str, pa.Schema] = {}
        self.changes = Outcome()

    def start(
        self,
        files: SealedFolder | None,
        first: Pipeline,
        fit: Callable[[Connector], Connector],
        register: Callable[[Sequence[Source]], RegistryFolder] | None,
    ) -> None:
        """Begin; or go on with the version that the last batch which Spark has done has seen."""
        seen = self._read_version(self._log.planned) if self._log.begun else None
        version = self._read_version(self._log.done)
        self.pipeline = self._versions.start(files, version, first, fit, register, seen=seen)
        self._before = version

    def record_with(self, history: HistoryWriter) -> None:
        """Have what is accepted kept."""
        self._versions.record_with(history)
        self.pipeline = self._versions.pipeline(self._before)

    def publish(self, tables: Tables) -> None:
        """Let workers know all versions that batches may see."""
        self._tables = tables
        for version in range(self._before, self._versions.newest + 1):
            self._write(version)

    def receive(self, receive: Callable[[Sequence[Connector]], None]) -> None:
        """Have what is sent to sources received as soon as views come that read them."""
        self._versions.receive(receive)

    @property
    def newest(self) -> Pipeline:
        """The newest version: all that batches which may come again have read is in it."""
        return self._versions.pipeline(self._versions.newest)

    def look(self) -> None:
        """Take up what has changed in the catalogue, unless the other thread is at it, or delivers."""
        if not self.lock.acquire(blocking=False):
            return
        try:
            known = self._versions.newest
            if self._versions.look() != known:
                self._write(self._versions.newest)
        finally:
            self.lock.release()

    def begin(self, batch: int, bucket_count: int) -> BatchViews:
        """What a batch sees that is about to run."""
        before, version = self._read_version(batch - 1), self._read_version(batch)
        previous, self.pipeline = self._versions.pipeline(before), self._versions.pipeline(version)
        self._before, self.changes, self.came = before, Outcome(views=version), {}
        if version == before and batch:
            return BatchViews(version)
        self.came = self.pipeline.list_new_outputs(previous)
        self.changes = self._versions.sum_up(before, version, batch)
        then, now = previous.views_by_number, self.pipeline.views_by_number
        gone = [
            (number, len(live_buckets(view, bucket_count)))
            for number, view in then.items()
            if view.stateful and number not in now
        ]
        came = sorted(now.keys() - then.keys() if batch else now)
        begun = tuple(self._log.read_position(batch - 1)["lanes"]) if batch else ()
        seen = BatchViews(version, tuple(came), tuple(gone), begun)
        return replace(seen, newest=find_beginnings(self.pipeline, seen, batch))

    def end(self, batch: int) -> None:
        """A batch is recorded: let the catalogue know what came and went with it."""
        if self.changes.came or self.changes.went:
            self._versions.note_batch(self._run, batch, self.changes)
        # Spark may run its last batch again, so the version before that one is still needed.
        self._versions.forget(self._before)
        self._writer.forget(self._before)

    def read_last(self) -> Pipeline:
        """What the last batch that is planned sees."""
        return self._versions.pipeline(self._read_version(self._log.planned))

    def _write(self, version: int) -> None:
        pipeline = self._versions.pipeline(version)
        if self._tables:
            self._tables.add(pipeline.tables)
        self._writer.write(version, pipeline)

    def _read_version(self, batch: int) -> int:
        """The version that a batch sees; before the first one it is 0."""
        return int(self._log.read_position(batch)["views"]) if batch >= 0 else 0
