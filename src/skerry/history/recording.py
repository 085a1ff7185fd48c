"""A run's history, as it grows. Held by the process that drives the run.

    .skerry/history/lock         held by the run that records
    .skerry/history/runs.json    how batches are numbered (``history.numbering``)
    .skerry/history/staged/      what tasks have written of batches that are not done
    .skerry/history/work/        where files are put together (``sinks.compaction``)

A batch is there once its files have been moved to their days, and it counts once the run has recorded it. A run that
goes on first removes what is there of batches that it has not recorded: they come again. So each accepted reading is
there exactly once, whatever crashes.
"""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.history.folder import BATCH, HistoryFolder
from skerry.history.numbering import Numbering
from skerry.history.retention import Retention, find_given_up
from skerry.history.writer import HistoryWriter
from skerry.model.atomic_write import replace_atomically, sync
from skerry.model.batch import as_batch
from skerry.model.folder_lock import FolderLock
from skerry.sinks.compaction import Compaction
from skerry.sinks.formats import merge_files, write_rows
from skerry.sinks.parts import Part, name_part

__all__ = ["Recording"]

_WAITING_ROWS, _WAITING_SECONDS = 1 << 17, 1.0
"""In process, steps are short: so many readings, or those of so long, are written at once."""
_LOOK_SECONDS = 10.0
"""How often it is looked whether something is to be given up."""


class Recording:
    """Takes the accepted readings of a run. ``retentions`` says, by stream, what is kept of them.

    ``batch`` is the first that is still to come, ``kept`` whether the run may go on after a crash.
    """

    def __init__(
        self,
        folder: HistoryFolder,
        streams: Sequence[Source],
        retentions: Mapping[str, Retention],
        run: str,
        batch: int,
        *,
        kept: bool,
    ) -> None:
        self._folder, self._retentions, self._kept, self._begun = folder, retentions, kept, batch
        try:
            folder.workshop.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot keep a history in {str(folder.root)!r}: {error.strerror}") from None
        self._lock = FolderLock(folder.workshop, "history")
        shutil.rmtree(folder.staged, ignore_errors=True)
        behind = max((part.last for stream in folder.streams() for part in folder.parts(stream)), default=-1)
        numbering = Numbering(folder.workshop / "runs.json")
        block, again = numbering.begin(run if kept else "", batch, behind)
        own = tuple(numbering.list_numbers(block))
        for part in [part for stream in folder.streams() for part in folder.parts(stream)]:
            _drop(part, again)
        self.writer = HistoryWriter(
            folder, {source.name: source for source in streams}, block.first, block.batch, kept, own
        )
        merge = partial(merge_files, format_="parquet")
        self._compaction = Compaction(folder.workshop / "work", merge, synced=kept)
        self._newest = behind
        self._recorded = self.writer.number(batch)
        self._unsettled: set[Path] = set()
        self._waiting: dict[str, list[pa.RecordBatch]] = {}
        self._waiting_from: int | None = None
        self._waiting_to = self._recorded
        self._flushed = self._looked = time.monotonic()

    def commit(self, batch: int, tasks: Mapping[str, Sequence[int]]) -> None:
        """Take over what tasks have written of a batch, by stream. All batches before it are recorded.

        One that was recorded before this process began is there already: Spark may run its last batch again.
        """
        if batch < self._begun:
            for stream in tasks:
                shutil.rmtree(self.writer.staged(stream, self.writer.number(batch)), ignore_errors=True)
            return
        number = self._recorded = self.writer.number(batch)
        for stream, numbers in tasks.items():
            staged = self.writer.staged(stream, number)
            names = {f"{name_part(number, task=task)}.parquet" for task in numbers}
            self._move(stream, [path for path in staged.glob("*/*") if path.name in names], number)
            shutil.rmtree(staged, ignore_errors=True)
        self._newest = max(self._newest, number)
        self._look_after()

    def add(self, batch: int, accepted: Mapping[str, Sequence[pa.RecordBatch]]) -> None:
        """Take the readings of a step in process; they are written with those of others."""
        for stream, batches in accepted.items():
            self._waiting.setdefault(stream, []).append(self.writer.add_order(stream, batch, 0, batches))
        self._waiting_to = self.writer.number(batch)
        if self._waiting_from is None:
            self._waiting_from = self._waiting_to
        rows = sum(each.num_rows for batches in self._waiting.values() for each in batches)
        if rows >= _WAITING_ROWS or time.monotonic() - self._flushed >= _WAITING_SECONDS:
            self.flush()
        self._look_after()

    def settle(self) -> None:
        """Return when all that was taken is on the disk."""
        self.flush()
        with self._compaction.lock:
            sync(self._unsettled)
        self._unsettled = set()

    def note_recorded(self, batch: int) -> None:
        """Batches before this one will not come again."""
        self._recorded = self.writer.number(batch)

    def close(self) -> None:
        """Write what is left, put together what can be, and let others have the history."""
        self.flush()
        self._compaction.finish()
        self._give_up()
        self.release()

    def release(self) -> None:
        """Let others have the history."""
        self._lock.release()

    def flush(self) -> None:
        """Write the steps that wait, as one batch."""
        self._flushed = time.monotonic()
        if not self._kept:
            self._recorded = self._waiting_to
        for stream, batches in self._waiting.items():
            rows = as_batch(pa.Table.from_batches(batches))
            name = f"{name_part(self._waiting_from or 0, self._waiting_to)}.parquet"
            written = []
            for day, of_day in self.writer.split_by_day(stream, rows):
                path = self._folder.staged / stream / day / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_rows(path, of_day, "parquet")
                written.append(path)
            self._move(stream, written)
        self._waiting, self._waiting_from = {}, None

    def _move(self, stream: str, staged: Sequence[Path], again: int | None = None) -> None:
        """Let readers see files. What an earlier attempt at batch ``again`` left goes."""
        moved = set()
        with self._compaction.lock:
            for path in staged:
                day = self._folder.root / stream / path.parent.name
                if not day.is_dir():
                    day.mkdir(parents=True)
                    if self._kept:
                        sync([day])
                os.replace(path, day / path.name)
                moved.add(day / path.name)
            if again is not None and again <= self._newest:
                for part in self._folder.parts(stream):
                    if part.first == again and part.path not in moved:
                        part.path.unlink()
        if self._kept:
            self._unsettled |= moved
        for path in moved:
            self._compaction.note(path.parent, 1, before=self._recorded)

    def _look_after(self) -> None:
        if time.monotonic() - self._looked >= _LOOK_SECONDS:
            self._looked = time.monotonic()
            self._give_up()

    def _give_up(self) -> None:
        """Remove what is not kept any more."""
        for stream, retention in self._retentions.items():
            event_time = self.writer.streams[stream].event_time
            with self._compaction.lock:
                for path in list(find_given_up(self._folder, stream, event_time, retention)):
                    path.unlink()
                    self._unsettled.discard(path)
                for day in self._folder.days(stream):
                    if not any(day.iterdir()):
                        day.rmdir()


def _drop(part: Part, numbers: range) -> None:
    """Remove some batches from a file."""
    if not numbers or part.last < numbers.start or part.first >= numbers.stop:
        return
    if part.first in numbers and part.last in numbers:
        part.path.unlink()
        return
    table = pq.read_table(part.path)
    column = table.column(BATCH)
    is_dropped = pc.and_(pc.greater_equal(column, numbers.start), pc.less(column, numbers.stop))
    with replace_atomically(part.path) as beside:
        write_rows(beside, as_batch(table.filter(pc.invert(is_dropped))), "parquet")
        sync([beside])
