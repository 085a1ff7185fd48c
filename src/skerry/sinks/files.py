"""Answers as files: one folder per output, one file per batch that has rows.

Large answers are written by the tasks that found them, one file, a part, per task. A file is written under a hidden
name and moved to its path when the batch is done, so that a reader never sees half of one, and a batch that runs again
replaces its own files.

Where a format has no word for a value, its text stands (``sinks.values``). In csv NULL is empty.
"""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from skerry.errors import OptionError
from skerry.model.atomic_write import replace_atomically, sync, write_atomically
from skerry.model.batch import empty
from skerry.model.options import Option, Owner, one_of, parse_option, parse_options, text
from skerry.sinks.sink import PartWriter, Sink
from skerry.sinks.values import to_csv, to_json, to_parquet, to_text

__all__ = ["FORMATS", "FileSink"]

FORMATS = ("parquet", "csv", "jsonl")

_OWNER = Owner("sink 'files'", wrong="unknown {option} {given!r}; known are {known}")
_FOLDER = Option("folder", text(), help="Where the folders of outputs are made.", required=True, example="'out'")
_FORMAT = Option("format", one_of(*FORMATS), "parquet", "Of the files.")

_MARK = ".run"
"""The file beside the folders of outputs that says which run their answers are of, and their format."""
_SUFFIXES = "|".join(FORMATS)
_PART = re.compile(rf"part-\d{{8,}}(-\d+)?\.({_SUFFIXES})")
_UNFINISHED = re.compile(rf"\.{_PART.pattern}(\.\d+)?")


@dataclass(frozen=True)
class _PartFiles(PartWriter):
    """The paths of a batch's files, and the way to write them in one format."""

    directory: Path
    format: str
    synced: bool = False
    """Whether tasks wait until the disk has what they write."""

    def path(self, output: str, number: int, task: int | None = None) -> Path:
        """Say where a batch's file is, or that of one of its tasks."""
        of_task = "" if task is None else f"-{task}"
        return self.directory / output / f"part-{number:08d}{of_task}.{self.format}"

    def hidden_path(self, output: str, number: int, task: int) -> Path:
        """Say where a task's file waits until its batch is written."""
        path = self.path(output, number, task)
        return path.with_name(f".{path.name}")

    def write_part(self, output: str, number: int, task: int, rows: pa.RecordBatch) -> None:
        """Write a task's file."""
        path = self.hidden_path(output, number, task)
        self.write(path, rows)
        if self.synced:
            sync([path])

    def write(self, path: Path, rows: pa.RecordBatch) -> None:
        """Write a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(path) as beside:
            _WRITERS[self.format](beside, pa.Table.from_batches([rows]))


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

    @classmethod
    def configure(cls, options: Mapping[str, str]) -> "FileSink":
        """Make a sink from options."""
        values = parse_options(options, cls.OPTIONS, _OWNER)
        return cls(Path(values["folder"]), values["format"])

    def claim(self, run: str, batches: int) -> None:
        """Look for the mark that this run has left beside its answers, if it goes on."""
        self._run, self._batches, self._files = run, batches, replace(self._files, synced=True)
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
        parts = [part for folder in folders if folder.is_dir() for part in _find(folder, _PART)]
        return max(map(_number, parts), default=-1)

    def open(self, outputs: Mapping[str, pa.Schema], *, resume: bool) -> None:
        """Make the folders, and empty them of an earlier run's parts."""
        self._schemas = dict(outputs)
        if not resume:
            self._mark()
        for output in outputs:
            folder = self._files.directory / output
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise OptionError(f"cannot write answers to {str(folder)!r}: {error.strerror}") from None
            for part in _find(folder, _UNFINISHED) + self._list_stale(folder, resume=resume):
                part.unlink()
            self._newest[output] = max(map(_number, _find(folder, _PART)), default=-1)

    def write(self, output: str, number: int, rows: pa.RecordBatch, parts: Sequence[int] = ()) -> None:
        """Leave exactly this batch's files: of its rows, if there are any, and of its tasks."""
        files, written = self._files, set()
        for task in parts:
            written.add(files.path(output, number, task))
            os.replace(files.hidden_path(output, number, task), files.path(output, number, task))
        if rows.num_rows:
            written.add(files.path(output, number))
            files.write(files.path(output, number), rows)
        if files.synced:
            self._unsettled |= written
        if number <= self._newest.get(output, -1):
            self._tidy(output, number, written)
        self._newest[output] = max(number, self._newest.get(output, -1))

    def _list_stale(self, folder: Path, *, resume: bool) -> list[Path]:
        """The parts that are to go: of an earlier run, or of batches that a run which goes on has not recorded."""
        kept = self._batches if resume else 0
        return [] if kept is None else [part for part in _find(folder, _PART) if _number(part) >= kept]

    def settle(self) -> None:
        """Wait for the disk to have the files of the last batch, and their names."""
        sync(self._unsettled)
        self._unsettled = set()

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
            raise OptionError(f"cannot write answers to {str(path.parent)!r}: {error.strerror}") from None

    def _tidy(self, output: str, number: int, kept: Collection[Path]) -> None:
        """Remove what an earlier attempt at a batch left, with other tasks or in another format."""
        for path in _find(self._files.directory / output, re.compile(rf"part-{number:08d}(-\d+)?\.({_SUFFIXES})")):
            if path not in kept:
                path.unlink()

    def part_writer(self) -> PartWriter:
        """Tasks write files beside those of the driver."""
        return self._files

    def close(self) -> None:
        """Leave an output without answers with one empty file, so that its columns can be read."""
        for output, schema in self._schemas.items():
            if not _find(self._files.directory / output, _PART):
                self._files.write(self._files.path(output, 0), empty(schema))


def _number(part: Path) -> int:
    """The batch that a part is of."""
    return int(part.name[5:].split(".")[0].split("-")[0])


def _find(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    return sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))


def _write_parquet(path: Path, table: pa.Table) -> None:
    """Store texts by dictionary, for they repeat, and whole numbers and times by their differences, which are small."""
    stored = _convert_columns(to_parquet, table)
    leaves = {name: type_ for field in stored.schema for name, type_ in _find_leaves(field.name, field.type)}
    texts = [name for name, type_ in leaves.items() if pa.types.is_string(type_)]
    whole = [name for name, type_ in leaves.items() if _is_whole(type_)]
    encodings = dict.fromkeys(whole, "DELTA_BINARY_PACKED")
    pyarrow.parquet.write_table(stored, path, use_dictionary=texts, column_encoding=encodings)


def _find_leaves(path: str, type_: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """What a column holds in the end, by the paths that Parquet gives it.

    >>> list(_find_leaves("members", pa.list_(pa.struct({"ts": pa.int64()}))))
    [('members.list.element.ts', DataType(int64))]
    """
    if pa.types.is_list(type_) or pa.types.is_fixed_size_list(type_):
        yield from _find_leaves(f"{path}.list.element", type_.value_type)
    elif pa.types.is_map(type_):
        yield from _find_leaves(f"{path}.key_value.key", type_.key_type)
        yield from _find_leaves(f"{path}.key_value.value", type_.item_type)
    elif pa.types.is_struct(type_):
        for index in range(type_.num_fields):
            yield from _find_leaves(f"{path}.{type_.field(index).name}", type_.field(index).type)
    else:
        yield path, type_


def _is_whole(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_timestamp(type_)


def _write_csv(path: Path, table: pa.Table) -> None:
    if table.num_columns == 1 and table.column(0).null_count:  # an empty line is no row to most readers
        text = to_csv(table.column(0).combine_chunks()).cast(pa.string())
        table = pa.table([text.fill_null("")], table.column_names)
    pyarrow.csv.write_csv(_convert_columns(to_csv, table), path)


def _write_jsonl(path: Path, table: pa.Table) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in _convert_columns(to_text, table).to_pylist(maps_as_pydicts="lossy"):
            file.write(json.dumps(to_json(row), ensure_ascii=False) + "\n")


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv, "jsonl": _write_jsonl}


def _convert_columns(convert: Callable[[pa.Array], pa.Array], table: pa.Table) -> pa.Table:
    return pa.table([convert(column.combine_chunks()) for column in table.columns], table.column_names)
