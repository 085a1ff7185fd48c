"""operate: Spark's stateful stage. Every stateful view lives here, keyed by (group, bucket).

A view's operator is restored from its saved pages, takes what the envelopes carry, learns the
watermark, and its changed pages are saved. A worker keeps the operators it has had: one is used
again if the saved state is still the one it left, which spares the restoring.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from skerry.build.stages import Stages
from skerry.errors import LimitError
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.operator import Operator, PageChanges
from skerry.pipeline.gate import watermark
from skerry.pipeline.pipeline import Outcome, Pipeline, since
from skerry.sinks.sink import PartWriter
from skerry.spark.envelope import DIRECT, MILLION, PART_BYTES, SHARE, TALLY
from skerry.spark.progress import batch_of_task

__all__ = ["Operate"]

_CLOCK = "#"


@dataclass
class _Kept:
    """An operator, how far its streams have come, and the batch that left it so."""

    operator: Operator
    newest: dict[str, int] = field(default_factory=dict)
    version: int = -1
    failure: str | None = None
    figures: dict[str, int] = field(default_factory=dict)

    def grown(self) -> dict[str, int]:
        """What the operator has counted since it was asked last."""
        now = dict(self.operator.figures())
        grown, self.figures = since(self.figures, now), now
        return grown


_kept: dict[tuple[str, int, int], _Kept] = {}
"""This worker's operators by run, group and bucket."""


class Operate(StatefulProcessor):
    """Runs the second part of each view."""

    def __init__(self, pipeline: Pipeline, run: str, part_writer: PartWriter | None = None) -> None:
        self._views, self._run, self._part_writer = pipeline.views, run, part_writer

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state: pages by name."""
        self._pages = handle.getMapState("pages", "page STRING", "blob BINARY")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:
        """Work on one bucket's envelopes."""
        group, bucket = key
        if group == DIRECT:
            yield from rows
            return
        envelopes = sorted(rows, key=lambda row: (row.name, row.task))
        kept, answers, lost = self._worked(group, bucket, envelopes)
        view = self._views[group]
        grown = kept.grown()
        if kept.failure or grown:
            failures = dict.fromkeys(view.outputs, kept.failure) if kept.failure else {}
            told = Outcome(failures=failures, figures={view.name: grown} if grown else {})
            yield _to_deliver(group, bucket, TALLY, json.dumps(asdict(told)).encode())
        if answers.num_rows:
            for output, rows in view.by_output(answers):
                yield self._answer(group, bucket, output, rows)
        if lost:
            yield _to_deliver(group, bucket, *lost)

    def close(self) -> None:
        """Nothing to let go."""

    def _answer(self, group: int, bucket: int, name: str, answers: pa.RecordBatch) -> Row:
        """Answers for the sink: in the row, or written as a part, with only their number in it, if they are many."""
        if self._part_writer is None or answers.nbytes <= PART_BYTES:
            return _to_deliver(group, bucket, name, pack(answers))
        self._part_writer.write_part(name, batch_of_task(), bucket, answers)
        return _to_deliver(group, bucket, name, None, answers.num_rows)

    def _worked(
        self, group: int, bucket: int, envelopes: list[Row]
    ) -> tuple[_Kept, pa.RecordBatch, tuple[str, bytes] | None]:
        """The operator after its work, its answers, and where it tells its losses and what these are."""
        view = self._views[group]
        # Taken out while it works: should the task fail half-way, nobody finds it half changed.
        kept = _kept.pop((self._run, group, bucket), None)
        if kept is None or kept.version != self._saved_version():
            kept = self._restored(view)
        answers, lost = empty(kept.operator.schema), None
        if kept.failure is None:
            try:
                answers = _answered(view, kept, envelopes)
                lost = _lost(view, kept.operator)
            except LimitError as error:
                kept.failure = str(error)
        self._save(kept)
        _kept[(self._run, group, bucket)] = kept
        return kept, answers, lost

    def _saved_version(self) -> int:
        clock = self._pages.getValue((_CLOCK,))
        return int(json.loads(clock[0])["version"]) if clock is not None else -1

    def _restored(self, view: Stages) -> _Kept:
        pages = {name: bytes(blob) for (name,), (blob,) in self._pages.iterator()}
        kept = _Kept(view.operate())
        if _CLOCK in pages:
            clock = json.loads(pages.pop(_CLOCK))
            kept.newest, kept.version, kept.failure = clock["newest"], clock["version"], clock["failure"]
        kept.operator.restore(pages)
        kept.figures = dict(kept.operator.figures())
        return kept

    def _save(self, kept: _Kept) -> None:
        changes = PageChanges()
        if kept.failure is None:
            changes = kept.operator.changes()
        else:
            self._pages.clear()
        kept.version = batch_of_task()
        clock = json.dumps({"version": kept.version, "newest": kept.newest, "failure": kept.failure}).encode()
        for name, blob in {**changes.put, _CLOCK: clock}.items():
            self._pages.updateValue((name,), (blob,))
        for name in changes.drop:
            self._pages.removeKey((name,))


def _to_deliver(group: int, bucket: int, name: str, blob: bytes | None, rows: int = 0) -> Row:
    return Row(grp=group, bucket=bucket, task=bucket, name=name, newest=rows, blob=blob)


def _answered(view: Stages, kept: _Kept, envelopes: list[Row]) -> pa.RecordBatch:
    """What follows from a batch's rows, and from the time that has passed."""
    for row in envelopes:
        if row.name == SHARE:
            kept.operator.take_in(row.newest / MILLION)
    envelopes = [row for row in envelopes if row.name != SHARE]
    rows = [row for row in envelopes if row.blob is not None]
    batches = [kept.operator.transition(unpack(row.blob), view.places[row.name]) for row in rows]
    for row in envelopes:
        kept.newest[row.name] = max(kept.newest.get(row.name, START_OF_TIME), row.newest)
    batches.append(kept.operator.advance(_watermark(view, kept.newest)))
    return join(batches, kept.operator.schema)


def _lost(view: Stages, operator: Operator) -> tuple[str, bytes] | None:
    """Before the state is saved: what has been told is not in it any more."""
    lost = operator.losses()
    if not lost or not view.shedding or not view.shedding.loss_to:
        return None
    return view.shedding.loss_to, pack(lost)


def _watermark(view: Stages, newest: dict[str, int]) -> Micros:
    """The least of the view's streams'."""
    return min(watermark(feed.source, Micros(newest.get(feed.name, START_OF_TIME))) for feed in view.clocks)
