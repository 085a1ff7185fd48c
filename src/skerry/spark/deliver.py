"""deliver: what a batch gives, written once each.

Spark may run a batch again after a crash. The sink writes by batch id, and the record of progress is
kept by batch id, so the second time changes nothing. A batch is recorded as done when its answers, its positions in
Spark's log and the state it left are on the disk.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame

from skerry.history.recording import Recording
from skerry.model.batch import join, unpack
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.sinks.sink import Sink
from skerry.spark.batch_views import VIEWS
from skerry.spark.changing_views import ChangingViews
from skerry.spark.checkpoint import Checkpoint
from skerry.spark.envelope import KEPT, TALLY
from skerry.spark.idle import IdleWatch
from skerry.spark.progress import PROPERTY
from skerry.spark.tables import TABLES, TableStore
from skerry.subscriptions.counters import COUNTS, add_counts

__all__ = ["Deliver"]


@dataclass
class _Answers:
    """What a batch has for one output: rows sent here, and how many each task wrote as a part."""

    batches: list[pa.RecordBatch] = field(default_factory=list)
    part_rows: dict[int, int] = field(default_factory=dict)


class Deliver:
    """The end of the pipeline, on the driver."""

    def __init__(
        self,
        pipeline: Pipeline,
        sink: Sink,
        checkpoint: Checkpoint,
        tables: TableStore,
        watch: Callable[[Outcome], None] | None,
        recording: Recording | None = None,
        views: ChangingViews | None = None,
    ) -> None:
        self._pipeline, self._outputs, self._sink, self._watch = pipeline, pipeline.outputs(), sink, watch
        self._progress, self._log, self._run = checkpoint.progress, checkpoint.log, checkpoint.run
        self._checkpoint, self._views = checkpoint, views
        self._recording = recording
        self._tables, self._registry = tables, pipeline.registry
        self._counters = pipeline.registry.counters(self._run) if pipeline.registry else None
        self._idle = IdleWatch(pipeline.foreign, checkpoint.progress)

    def inform(self, context: SparkContext) -> None:
        """Let the tasks of the next batch know what they need to."""
        self._tables.choose(self._progress.next_batch)
        context.setLocalProperty(PROPERTY, self._progress.as_property())
        context.setLocalProperty(TABLES, self._tables.as_property())

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write one batch."""
        if self._views is None:
            self._deliver(frame, batch, Outcome())
            return
        with self._views.lock:
            self._see_views(batch, frame.sparkSession.sparkContext, self._views)
            self._deliver(frame, batch, self._views.changes)
            self._views.end(batch)
            if self._watch:
                self._watch(self._progress.total)
            self._views.look()

    def _see_views(self, batch: int, context: SparkContext, views: ChangingViews) -> None:
        """Let the tasks of a batch know which views it sees, and the sink which have come with it."""
        seen = views.begin(batch, self._checkpoint.layout.layout.bucket_count)
        self._tables.choose(batch)
        context.setLocalProperty(VIEWS, seen.as_property())
        context.setLocalProperty(TABLES, self._tables.as_property())
        self._pipeline, self._outputs = views.pipeline, views.pipeline.outputs()
        if views.came:
            self._sink.begin_outputs(views.came, batch)

    def _deliver(self, frame: DataFrame, batch: int, changes: Outcome) -> None:
        table = frame.toArrow().sort_by([("name", "ascending"), ("grp", "ascending"), ("bucket", "ascending")])
        names = table.column("name").to_pylist()
        blobs = table.column("blob")
        outcome = Outcome(batches=1)
        answers: dict[str, _Answers] = {}
        kept: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            if name == TALLY:
                outcome = outcome.then(Outcome.from_json(json.loads(blobs[row].as_py())))
            elif name.startswith(KEPT):
                kept.setdefault(name.removeprefix(KEPT), []).append(table.column("task")[row].as_py())
            elif blobs[row].is_valid:
                answers.setdefault(name, _Answers()).batches.append(unpack(blobs[row].as_buffer()))
            else:
                task, count = table.column("task")[row].as_py(), table.column("row_count")[row].as_py()
                answers.setdefault(name, _Answers()).part_rows[task] = count
        self._count(batch, answers.pop(COUNTS, _Answers()).batches)
        self._copy(answers)
        counts = {output: self._write(output, batch, found) for output, found in answers.items()}
        if self._registry and outcome.version != self._progress.total.version:
            self._registry.note_batch(self._run, batch, outcome.version)
        # What the record says is done must be on the disk before it: Spark reads nothing of the batch again.
        self._sink.settle()
        if self._recording:
            self._recording.commit(batch, kept)
            self._recording.settle()
        self._log.settle(batch)
        rest = Outcome(newest=self._idle.note(outcome), answers=counts)
        self._progress.record(batch, outcome.then(rest).then(changes), self._log.digest(batch))
        self.inform(frame.sparkSession.sparkContext)
        if self._watch and not self._views:
            self._watch(self._progress.total)

    def finish(self) -> None:
        """All batches are written."""
        if self._counters:
            self._counters.write()

    def _count(self, batch: int, counts: Sequence[pa.RecordBatch]) -> None:
        if self._counters:
            self._counters.note(batch, add_counts(counts) if counts else None)

    def _copy(self, answers: dict[str, _Answers]) -> None:
        """Give views that have copies of an output what was sent here for it; parts of theirs are written already."""
        for output, found in list(answers.items()):
            for each in self._pipeline.copies_of(output):
                answers.setdefault(each.name, _Answers()).batches += map(each.rename, found.batches)

    def _write(self, output: str, batch: int, found: _Answers) -> int:
        schema = found.batches[0].schema if found.batches else self._outputs.get(output, pa.schema([]))
        rows = join(found.batches, schema)
        self._sink.write(output, batch, rows, tuple(found.part_rows))
        return rows.num_rows + sum(found.part_rows.values())
