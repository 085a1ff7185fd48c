"""Answers as files: one folder per output, one file per batch that has rows.

Large answers are written by the tasks that found them, one file, a part, per task. A file is written under a hidden
name and moved to its path when the batch is done, so that a reader never sees half of one, and a batch that runs again
replaces its own files.

Where a format has no word for a value, its text stands: times as ``2026-01-01 00:00:00.000000``, spans as
``25:00:00.000000``, and in JSON ``"NaN"`` and ``"Infinity"``. In csv nested values are JSON, and NULL is empty.
"""

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from skerry.errors import OptionError
from skerry.model.atomic_write import replace_atomically, sync, write_atomically
from skerry.model.batch import empty
from skerry.model.options import Option, Owner, one_of, parse_option, parse_options, text
from skerry.sinks.sink import PartWriter, Sink

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
    stored = _convert_columns(_to_parquet, table)
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
    if pa.types.is_list(type_):
        yield from _find_leaves(f"{path}.list.element", type_.value_type)
    elif pa.types.is_struct(type_):
        for index in range(type_.num_fields):
            yield from _find_leaves(f"{path}.{type_.field(index).name}", type_.field(index).type)
    else:
        yield path, type_


def _is_whole(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_timestamp(type_)


def _write_csv(path: Path, table: pa.Table) -> None:
    if table.num_columns == 1 and table.column(0).null_count:  # an empty line is no row to most readers
        text = _to_csv(table.column(0).combine_chunks()).cast(pa.string())
        table = pa.table([text.fill_null("")], table.column_names)
    pyarrow.csv.write_csv(_convert_columns(_to_csv, table), path)


def _write_jsonl(path: Path, table: pa.Table) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in _convert_columns(_to_text, table).to_pylist():
            file.write(json.dumps(_to_json(row), ensure_ascii=False) + "\n")


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv, "jsonl": _write_jsonl}


def _convert_columns(convert: Callable[[pa.Array], pa.Array], table: pa.Table) -> pa.Table:
    return pa.table([convert(column.combine_chunks()) for column in table.columns], table.column_names)


def _to_parquet(column: pa.Array) -> pa.Array:
    """Parquet has spans of a fixed length alone."""
    if pa.types.is_interval(column.type):
        return pa.array(
            [None if span is None else _to_fixed_span(span) for span in column.to_pylist()], pa.duration("us")
        )
    return column


def _to_csv(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type):
        values = column.to_pylist()
        texts = [None if value is None else json.dumps(_to_json(value), ensure_ascii=False) for value in values]
        return pa.array(texts, pa.string())
    return _to_text(column)


def _to_text(column: pa.Array) -> pa.Array:
    """Times with all six digits, and spans, as texts; all other columns as they are."""
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    if pa.types.is_interval(column.type) or pa.types.is_duration(column.type):
        return pa.array([_to_json(span) for span in column.to_pylist()], pa.string())
    return column


def _to_json(value: object) -> object:
    """A value as JSON knows it: a whole decimal is a number, what JSON has no word for is its text."""
    if isinstance(value, dict):
        return {name: _to_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_to_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, timedelta | pa.MonthDayNano):
        return _spell_span(_to_fixed_span(value))
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _to_fixed_span(span: timedelta | pa.MonthDayNano) -> timedelta:
    """A span of fixed length; a month has thirty days here."""
    if isinstance(span, timedelta):
        return span
    return timedelta(days=30 * span.months + span.days, microseconds=span.nanoseconds // 1000)


def _spell_span(span: timedelta) -> str:
    """Spell a span as SQL reads it, in hours however many.

    >>> _spell_span(timedelta(days=1, hours=1)), _spell_span(timedelta(seconds=-1.5))
    ('25:00:00.000000', '-00:00:01.500000')
    """
    seconds, micros = divmod(abs(span) // timedelta(microseconds=1), 1_000_000)
    sign = "-" if span < timedelta() else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}"
