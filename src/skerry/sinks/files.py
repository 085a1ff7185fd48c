"""Answers as files: one folder per output, one file per batch that has rows.

Large answers are written by the tasks that found them, one file, a part, per task. A file is written where nobody looks
and moved to its path when the batch is done, so that a reader never sees half of one, and a batch that runs again
replaces its own files. Many small files become few large ones while the run goes on (``sinks.compaction``).

Where a format has no word for a value, its text stands (``sinks.values``). In csv NULL is empty.
"""

import os
import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from skerry.errors import OptionError
from skerry.model.atomic_write import replace_atomically, sync, write_atomically
from skerry.model.batch import empty
from skerry.model.folder_error import explain_folder
from skerry.model.options import Option, Owner, one_of, parse_option, parse_options, text
from skerry.sinks.compaction import Compaction
from skerry.sinks.formats import FORMATS, merge_files, write_rows
from skerry.sinks.parts import find_parts, name_part
from skerry.sinks.sink import PartWriter, Sink

__all__ = ["FileSink"]

_OWNER = Owner("sink 'files'", wrong="unknown {option} {given!r}; known are {known}")
_FOLDER = Option("folder", text(), help="Where the folders of outputs are made.", required=True, example="'out'")
_FORMAT = Option("format", one_of(*FORMATS), "parquet", "Of the files.")

_MARK = ".run"
"""The file beside the folders of outputs that says which run their answers are of, and their format."""
_STAGED, _WORKSHOP = ".staged", ".compaction"
"""The folders beside those of outputs for files that no reader is to see yet."""
_UNFINISHED = re.compile(rf"\.part-\d{{8,}}\S*\.({'|'.join(FORMATS)})(\.\d+)?")


@dataclass(frozen=True)
class _PartFiles(PartWriter):
    """The paths of a batch's files, and the way to write them in one format."""

    directory: Path
    format: str
    synced: bool = False
    """Whether tasks wait until the disk has what they write."""

    def path(self, output: str, number: int, task: int | None = None) -> Path:
        """Say where a batch's file is, or that of one of its tasks."""
        return self.directory / output / f"{name_part(number, task=task)}.{self.format}"

    def staged_path(self, output: str, number: int, task: int) -> Path:
        """Say where a task's file waits until its batch is written."""
        return self.directory / _STAGED / output / self.path(output, number, task).name

    def write_part(self, output: str, number: int, task: int, rows: pa.RecordBatch) -> None:
        """Write a task's file."""
        path = self.staged_path(output, number, task)
        self.write(path, rows)
        if self.synced:
            sync([path])

    def write(self, path: Path, rows: pa.RecordBatch) -> None:
        """Write a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(path) as beside:
            write_rows(beside, rows, self.format)


class FileSink(Sink):
    """Writes ``DIR/output/part-00000007.csv`` for batch 7, or ``part-00000007-3.csv`` where task 3 wrote it."""

    OPTIONS: ClassVar[tuple[Option, ...]] = (_FOLDER, _FORMAT)

    def __init__(self, directory: Path, format_: str) -> None:
        parse_option(format_, _FORMAT, _OWNER)
        self._files = _PartFiles(directory.resolve(), format_)
        self._schemas: dict[str, pa.Schema] = {}
        self._newest: dict[str, int] = {}
        self._run: str | None = None
        self._batches: int | None = None
        self._unsettled: set[Path] = set()
        self._first_unsettled: int | None = None
        self._settled_batches = self._recorded_batches = 0
        self._compaction: Compaction | None = None

    @property
    def directory(self) -> Path:
        """Where the folders of outputs are."""
        return self._files.directory

    @classmethod
    def configure(cls, options: Mapping[str, str]) -> "FileSink":
        """Make a sink from options."""
        values = parse_options(options, cls.OPTIONS, _OWNER)
        return cls(Path(values["folder"]), values["format"])

    def claim(self, run: str, batches: int) -> None:
        """Look for the mark that this run has left beside its answers, if it goes on."""
        self._run, self._batches, self._files = run, batches, replace(self._files, synced=True)
        self._recorded_batches = self._settled_batches = batches
        if not batches:
            return
        try:
            marked = (self._files.directory / _MARK).read_text().split()
        except OSError:
            marked = []
        folder = str(self._files.directory)
        if marked[:1] != [run]:
            wrong = f"the answers that the checkpoint goes on from are not in {folder!r}"
            raise OptionError(f"{wrong}: name the folder they were written to, or start anew with another checkpoint")
        if marked[1:] != [self._files.format]:
            raise OptionError(f"the answers in {folder!r} are {marked[-1]} so far; go on with --format {marked[-1]}")

    def last_batch(self, outputs: Collection[str]) -> int:
        """The number of the newest part."""
        folders = [self._files.directory / output for output in outputs]
        parts = [part for folder in folders if folder.is_dir() for part in find_parts(folder)]
        return max((part.last for part in parts), default=-1)

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Make the folders, and empty them of an earlier run's parts."""
        self._schemas = dict(outputs)
        if not resume:
            self._mark()
        files = self._files
        shutil.rmtree(files.directory / _STAGED, ignore_errors=True)
        merge = partial(merge_files, format_=files.format)
        self._compaction = Compaction(files.directory / _WORKSHOP, merge, synced=files.synced)
        for output in outputs:
            folder = self._make_folder(output)
            self._clear(output, [*_find_unfinished(folder), *self._list_stale(folder, resume=resume)])

    def begin_outputs(self, outputs: Mapping[str, pa.Schema], number: int) -> None:
        """Make their folders, and empty them of the parts of earlier batches."""
        assert self._compaction, "a sink is opened first"
        self._schemas |= outputs
        with self._compaction.lock:
            for output in outputs:
                parts = find_parts(self._make_folder(output))
                self._clear(output, [part.path for part in parts if part.last < number])

    def _make_folder(self, output: str) -> Path:
        folder = self._files.directory / output
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OptionError(f"cannot write answers to {str(folder)!r}: {explain_folder(error)}") from None
        return folder

    def _clear(self, output: str, stale: Iterable[Path]) -> None:
        """Remove files, and note what is there then."""
        for path in stale:
            path.unlink()
        self._newest[output] = max((part.last for part in find_parts(self._files.directory / output)), default=-1)

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Leave exactly this batch's files: of its rows, if there are any, and of its tasks."""
        assert self._compaction, "a sink is opened first"
        folder = self._files.directory / output
        with self._compaction.lock:
            is_again = number <= self._newest.get(output, -1)
            if is_again and any(part.is_merged and part.first <= number <= part.last for part in find_parts(folder)):
                return  # it has been put together with others since, and is the same
            written = self._write_files(output, number, rows, parts)
            if is_again:
                _tidy(folder, number, written)
        self._newest[output] = max(number, self._newest.get(output, -1))
        # Of a run that may be killed and go on, what it may have to do again stays in files of its own.
        # What a run that went before has begun, and this one does again, counts once this one has settled it.
        settled = number if self._first_unsettled is None else self._first_unsettled
        recorded = min(number, settled, self._recorded_batches) if self._files.synced else number
        self._compaction.note(folder, len(written), before=recorded)

    def _write_files(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int]) -> set[Path]:
        files, written = self._files, set()
        for task in parts:
            written.add(files.path(output, number, task))
            os.replace(files.staged_path(output, number, task), files.path(output, number, task))
        if rows.num_rows:
            written.add(files.path(output, number))
            files.write(files.path(output, number), rows)
        if files.synced and written:
            self._unsettled |= written
            self._first_unsettled = number if self._first_unsettled is None else min(number, self._first_unsettled)
        return written

    def _list_stale(self, folder: Path, *, resume: bool) -> list[Path]:
        """The parts that are to go: of an earlier run, or of batches that a run which goes on has not recorded."""
        kept = self._batches if resume else 0
        if kept is None:
            return []
        for part in find_parts(folder):
            if part.first < kept <= part.last:
                wrong = f"goes on with batch {kept}, and {str(part.path)!r} holds batches up to {part.last}"
                raise OptionError(f"the checkpoint {wrong}: it is older than the answers; start anew with another")
        return [part.path for part in find_parts(folder) if part.first >= kept]

    def settle(self) -> None:
        """Wait for the disk to have the files of the last batches, and their names.

        The run records them after that, so what was settled the time before has been recorded by now.
        """
        if self._compaction and self._unsettled:
            with self._compaction.lock:
                sync(self._unsettled)
        self._unsettled, self._first_unsettled = set(), None
        self._recorded_batches = self._settled_batches
        self._settled_batches = max([self._settled_batches, *(newest + 1 for newest in self._newest.values())])

    def _mark(self) -> None:
        """Say whose answers will be here: another run's, so nobody goes on with those that are removed now."""
        path = self._files.directory / _MARK
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if self._run is None:
                path.unlink(missing_ok=True)
            else:
                write_atomically(path, f"{self._run} {self._files.format}\n".encode(), synced=True)
        except OSError as error:
            raise OptionError(f"cannot write answers to {str(path.parent)!r}: {explain_folder(error)}") from None

    def part_writer(self) -> PartWriter:
        """Tasks write files beside those of the driver."""
        return self._files

    def close(self) -> None:
        """Leave an output without answers with one empty file, so that its columns can be read."""
        if self._compaction:
            self._compaction.finish()
        for output, schema in self._schemas.items():
            if not find_parts(self._files.directory / output):
                self._files.write(self._files.path(output, 0), empty(schema))
        for name in (_STAGED, _WORKSHOP):
            shutil.rmtree(self._files.directory / name, ignore_errors=True)


def _tidy(folder: Path, number: int, kept: Collection[Path]) -> None:
    """Remove what an earlier attempt at a batch left, with other tasks or in another format."""
    for part in find_parts(folder):
        if part.first == number and part.path not in kept:
            part.path.unlink()


def _find_unfinished(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if _UNFINISHED.fullmatch(path.name)]
