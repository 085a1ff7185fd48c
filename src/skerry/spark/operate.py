"""operate: Spark's stateful stage. Every stateful view lives here, keyed by (group, bucket).

A view's operator is restored from its saved pages, takes what the envelopes carry, learns the
watermark, and its changed pages are saved. A worker keeps the operators it has had: one is used
again if the saved state is still the one it left, which spares the restoring. The number of the batch
would not tell: a batch that runs again, in another worker, leaves the same rows in pages of other names.
"""

import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import MapState

from skerry.build.cut import CutView
from skerry.build.table import Tables
from skerry.errors import CheckpointError
from skerry.model.batch import empty, join, pack, unpack
from skerry.operators.operator import PageChanges
from skerry.pipeline.outcome import Outcome
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.saved_pages import CLOCK
from skerry.pipeline.view_at_work import ViewAtWork
from skerry.sinks.sink import PartWriter
from skerry.spark.batch_views import views_of_task
from skerry.spark.envelope import DIRECT, PART_BYTES, PAST, SHARE, TALLY
from skerry.spark.functions import NO_FUNCTIONS, PackedFunctions
from skerry.spark.layout import Layout
from skerry.spark.plan_files import PlanFiles
from skerry.spark.progress import batch_of_task
from skerry.spark.tables import tables_of_task

__all__ = ["Operate"]


@dataclass
class _Kept:
    """A view at work in one bucket, and the mark of the saved state that is its own."""

    work: ViewAtWork
    mark: str | None = None


_kept: dict[tuple[str, int, int], _Kept] = {}
"""This worker's views at work by run, group and address."""
_ONE_BUCKET = Layout(1)


class Operate:
    """Runs the second part of each view."""

    _pages: MapState

    def __init__(
        self,
        pipeline: Pipeline,
        run: str,
        part_writer: PartWriter | None = None,
        layout: Layout = _ONE_BUCKET,
        functions: PackedFunctions = NO_FUNCTIONS,
        plans: PlanFiles | None = None,
    ) -> None:
        self._pipeline, self._run, self._part_writer, self._layout = pipeline, run, part_writer, layout
        self._functions, self._plans = functions, plans

    def work_on(self, key: tuple[int, int], rows: Iterable[Row], pages: MapState) -> Iterator[Row]:
        """Work on one bucket's envelopes, with the state that Spark keeps for it."""
        self._pages = pages
        group, address = key
        if group == DIRECT:
            yield from rows
            return
        if self._plans:
            self._pipeline = self._plans.pipeline(views_of_task().version)
        view, bucket = self._pipeline.views_by_number.get(group), self._layout.bucket(group, address)
        if view is None or bucket is None:  # it went, or is of an earlier layout
            self._pages.clear()
            _kept.pop((self._run, group, address), None)
            return
        self._functions.install()
        envelopes = sorted(rows, key=lambda row: (row.name, row.task))
        tables = tables_of_task(view.tables_above)
        # Taken out while it works: should the task fail half-way, nobody finds it half changed.
        kept = _kept.pop((self._run, group, address), None)
        if kept is None or kept.work.view is not view or kept.mark != self._read_saved_mark():
            self._adopt(group, bucket)
            kept = self._restore(view, tables)
        kept.work.see(tables)
        answers = _answer(kept.work, envelopes)
        lost = kept.work.take_losses()  # before the state is saved: what was reported is not in it any more
        self._save(kept)
        _kept[(self._run, group, address)] = kept
        yield from self._send(group, bucket, kept.work, answers, lost)

    def _send(
        self,
        group: int,
        bucket: int,
        work: ViewAtWork,
        answers: pa.RecordBatch,
        lost: tuple[str, pa.RecordBatch] | None,
    ) -> Iterator[Row]:
        """The account of a bucket's work, its answers, and its losses."""
        grown = work.take_figures()
        failures = self._pipeline.copy_failures(work.failures)
        outcome = Outcome(failures=failures, figures={work.view.name: grown} if grown else {})
        outcome = outcome.then(Outcome.of_functions())
        if outcome != Outcome():
            yield _to_deliver(group, bucket, TALLY, json.dumps(asdict(outcome)).encode())
        if answers.num_rows:
            for output, rows in work.view.by_output(answers):
                yield from self._send_answers(group, bucket, output, rows)
        if lost:
            yield _to_deliver(group, bucket, lost[0], pack(lost[1]))

    def _send_answers(self, group: int, bucket: int, name: str, answers: pa.RecordBatch) -> Iterator[Row]:
        """Answers for the sink: in the row, or written as a part, with only their number in it, if they are many."""
        if self._part_writer is None or answers.nbytes <= PART_BYTES:
            yield _to_deliver(group, bucket, name, pack(answers))
            return
        for output, rows in self._pipeline.with_copies(name, answers):
            self._part_writer.write_part(output, batch_of_task(), bucket, rows)
            yield _to_deliver(group, bucket, output, None, rows.num_rows)

    def _read_saved_mark(self) -> str | None:
        clock = self._pages.getValue((CLOCK,))
        found: str | None = json.loads(clock[0])["mark"] if clock is not None else None
        return found

    def _adopt(self, group: int, bucket: int) -> None:
        """Take over the state that a bucket begins with, if it has none of its own yet: then it is Spark's to keep."""
        if self._layout.folder and self._pages.getValue((CLOCK,)) is None:
            for name, blob in self._layout.read_first_pages(group, bucket).items():
                self._pages.updateValue((name,), (blob,))

    def _restore(self, view: CutView, tables: Tables) -> _Kept:
        pages = {name: bytes(blob) for (name,), (blob,) in self._pages.iterator()}
        kept = _Kept(ViewAtWork(view, tables))
        if CLOCK in pages:
            clock = json.loads(pages.pop(CLOCK))
            if clock["run"] != self._run:
                raise CheckpointError("spark/state", "holds the state of another run")
            kept.mark = clock["mark"]
            kept.work.restore(pages, clock["newest"], clock["failure"], clock.get("heard"))
        return kept

    def _save(self, kept: _Kept) -> None:
        work, changes = kept.work, PageChanges()
        if work.failure is None:
            changes = work.operator.changes()
        else:
            self._pages.clear()
        kept.mark = secrets.token_hex(8)
        clock = {
            "run": self._run,
            "mark": kept.mark,
            "failure": work.failure,
            "newest": work.newest,
            "heard": work.heard,
        }
        for name, blob in {**changes.put, CLOCK: json.dumps(clock).encode()}.items():
            self._pages.updateValue((name,), (blob,))
        for name in changes.drop:
            self._pages.removeKey((name,))


def _to_deliver(group: int, bucket: int, name: str, blob: bytes | None, row_count: int | None = None) -> Row:
    return Row(
        grp=group,
        bucket=bucket,
        task=bucket,
        name=name,
        newest=None,
        heard=None,
        row_count=row_count,
        share=None,
        blob=blob,
    )


def _answer(work: ViewAtWork, envelopes: list[Row]) -> pa.RecordBatch:
    """What follows from a batch's rows, and from the time that has passed; nothing if the view has to stop."""
    sources = {feed.name: feed.source.name for feed in work.view.feeds}
    for row in envelopes:
        if row.name == SHARE:
            work.take_in(row.share)
    batches = _take_in_past(work, [row for row in envelopes if row.name.startswith(PAST)])
    streams = [row for row in envelopes if row.name != SHARE and not row.name.startswith(PAST)]
    numbers = work.view.stream_numbers
    batches += [work.transition(unpack(row.blob), numbers[row.name]) for row in streams if row.blob is not None]
    for row in streams:
        work.note_newest(sources[row.name], row.newest)
        if row.heard is not None:
            work.note_heard(sources[row.name], row.heard)
    batches.append(work.advance(work.watermark))
    schema = work.operator.schema
    return empty(schema) if work.failure else join(batches, schema)


def _take_in_past(work: ViewAtWork, envelopes: list[Row]) -> list[pa.RecordBatch]:
    """What follows from the history that a view begins with, a chunk after the other."""
    sources, numbers = {feed.name: feed.source.name for feed in work.view.feeds}, work.view.stream_numbers
    made: list[pa.RecordBatch] = []
    for _, chunk in groupby(envelopes, key=lambda row: row.name.split("/")[1]):
        clocks: list[tuple[str, Row]] = []
        for row in chunk:
            feed = row.name.split("/", 3)[3]
            clocks.append((sources[feed], row))
            if row.blob is not None:
                made.append(work.transition(unpack(row.blob), numbers[feed]))
        for source, row in clocks:
            if row.newest is not None:
                work.note_newest(source, row.newest)
            if row.heard is not None:
                work.note_heard(source, row.heard)
        made.append(work.advance(work.watermark))
    return made
