"""Parquet: row groups, or pieces of large ones, as units; statistics instead of peeks."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types as kinds

from skerry.catalog import Source
from skerry.errors import OptionError, SourceError
from skerry.kernels.ahead import WITNESSES
from skerry.model.arrays import Int64s
from skerry.model.batch import as_batch, empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP, TIMESTAMPTZ, is_json, name_column_type, sql_name
from skerry.sources.dead_letters import make_dead_letters, show_line
from skerry.sources.epoch_times import count_since_1970
from skerry.sources.file.conform import EARLIEST, LATEST, Conformed, Rows, can_cast, conform, show_values
from skerry.sources.file.generated import conform_source
from skerry.sources.file.lane import MANY_ROWS, FileLane, StoredFile, Unit, find_columns, report_read_errors
from skerry.sources.file.options import FileOptions
from skerry.sources.source import REJECTS

__all__ = ["ParquetLane"]

_READ_BYTES = 1 << 20
"""How much of a column is read ahead: all of it would be as much memory again."""

_PIECE_ROWS = 1 << 16
"""In what steps a row group is read that is not needed whole."""

_KEPT_GROUPS = 4
"""How many row groups are kept in memory, of those that are asked for piece by piece."""

_MOST_PIECES = 1_000_000
"""A file is not cut finer: the planner keeps a record of each piece."""

_NANOS_PER_UNIT = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}


class _Piece(NamedTuple):
    """Some rows of a row group."""

    group: int
    first: int
    rows: int


class ParquetLane(FileLane):
    """A Parquet file. Only declared columns are read: as they are, or by a cast where types differ.

    Times of any unit become microseconds; one with a zone is brought to UTC, one without is taken to be
    in UTC. Only the footer is kept in memory, and no file stays open.
    """

    may_grow = False

    def __init__(
        self, file: StoredFile, definition: Source, options: FileOptions, block_bytes: int, unit_rows: int = MANY_ROWS
    ) -> None:
        super().__init__(file, definition, options, block_bytes, unit_rows)
        self._seen: dict[int, tuple[Micros, Micros]] = {}

    def check(self) -> None:
        """Read the footer, and compare its columns with the declaration."""
        name = str(self._definition.event_time)
        if self._options.event_time_unit is not None and kinds.is_timestamp(self._types.get(name, pa.null())):
            raise OptionError(
                f"option event_time_unit is for numbers; the times of {self.name} have a unit of their own"
            )
        _ = self._columns

    def count(self) -> int:
        """How many units there are."""
        return len(self._pieces)

    def weight(self, unit: int) -> int:
        """How many rows a unit has."""
        return self._pieces[unit].rows

    def decode(self, unit: int) -> Unit:
        """Read a unit."""
        stored = self._read(self._pieces[unit], self._definition.stored_schema.names)
        found = self._conform(stored)
        rejects = self._reject(unit, stored, found.misfits, found.reasons) if found.reasons else empty(REJECTS)

        def reject(rows: Rows, reasons: Sequence[str]) -> pa.RecordBatch:
            fitting = np.delete(np.arange(stored.num_rows), found.misfits)
            return self._reject(unit, stored, fitting[rows], reasons)

        return Unit(found.readings, rejects, reject)

    def decode_until(self, unit: int, moment: Micros) -> Unit:
        """Read a unit at least as far as its readings arrive until a moment, and not much farther.

        Dead letters come with the first piece of a unit: where the footer leaves it open whether there are
        any, the whole of it is read.
        """
        schema, piece = self._definition.schema, self._pieces[unit]
        if self._definition.event_time is None or self._definition.generated or not self._is_whole(piece):
            return self.decode(unit)
        if not all(self._fits(piece.group, name) for name in schema.names):
            return self.decode(unit)
        names = [self._columns[name] for name in schema.names]
        pieces: list[pa.RecordBatch] = []
        with self._open() as file:
            for stored in file.iter_batches(_PIECE_ROWS, row_groups=[piece.group], columns=names, use_threads=False):
                pieces.append(self._conform(stored.select(names)).readings)
                if self._goes_beyond(pieces, moment):
                    break
        readings = join(pieces, schema)
        return Unit(readings, empty(REJECTS), lambda rows, reasons: self._reject(unit, readings, rows, reasons))

    def _goes_beyond(self, pieces: Sequence[pa.RecordBatch], moment: Micros) -> bool:
        """Whether a reading arrives after a moment; one whose clock is ahead does not count."""
        name = str(self._definition.event_time)
        if not pc.any(pc.greater(pieces[-1].column(name), pa.scalar(moment, TIMESTAMP))).as_py():
            return False
        if self._limit is None:
            return True
        times = np.concatenate([piece.column(name).cast(pa.int64()).to_numpy() for piece in pieces])
        marks, _, _ = self._limit.mark(times, times[:0], START_OF_TIME)
        certain = max(0, times.size - WITNESSES)
        return bool((~marks & (times > moment))[:certain].any())

    def times_before(self, unit: int, count: int) -> Int64s:
        """Read back from the start of a unit, by row groups."""
        group, first, _ = self._pieces[unit]
        found = self._read_times(_Piece(group, 0, first))
        while found.size < count and group > 0:
            group -= 1
            found = np.concatenate([self._read_times(self._as_piece(group)), found])
        return found[-count:]

    def times_after(self, unit: int, count: int) -> Int64s:
        """Read on from the end of a unit, by row groups."""
        group, first, rows = self._pieces[unit]
        found = self._read_times(_Piece(group, first + rows, self._as_piece(group).rows - first - rows))
        while found.size < count and group + 1 < self._footer.num_row_groups:
            group += 1
            found = np.concatenate([found, self._read_times(self._as_piece(group))])
        return found[:count]

    @cached_property
    def _pieces(self) -> list[_Piece]:
        """The units: row groups, those that are much larger than a unit may be in pieces."""
        most = max(self._unit_rows, self._footer.num_rows // _MOST_PIECES)
        return [
            piece for group in range(self._footer.num_row_groups) for piece in _cut_group(self._as_piece(group), most)
        ]

    def _as_piece(self, group: int) -> _Piece:
        return _Piece(group, 0, self._footer.row_group(group).num_rows)

    def _is_whole(self, piece: _Piece) -> bool:
        return piece == self._as_piece(piece.group)

    def _conform(self, stored: pa.RecordBatch) -> Conformed:
        return conform_source(self._count_times(stored), self._definition)

    def _count_times(self, stored: pa.RecordBatch) -> pa.RecordBatch:
        """Stored columns, with event times as moments where they are numbers in a unit."""
        name, unit = str(self._definition.event_time), self._options.event_time_unit
        if unit is None or name not in stored.schema.names:
            return stored
        index = stored.schema.get_field_index(name)
        return stored.set_column(index, name, count_since_1970(stored.column(index).cast(pa.string()), unit))

    def _is_counted(self, field: pa.Field) -> bool:
        return self._options.event_time_unit is not None and field.name == self._definition.event_time

    def _fits(self, group: int, name: str) -> bool:
        """Whether the footer shows that a column makes no row of a row group a misfit."""
        field = self._definition.schema.field(name)
        if field.type not in (TIMESTAMP, TIMESTAMPTZ):
            return self._types[name] == field.type and not is_json(field)
        ends = self._ends_by_statistics(group, name)
        if ends is None or ends[0] < EARLIEST or ends[1] > LATEST:
            return False
        return name != self._definition.event_time or self._statistics(group, name).null_count == 0

    def _reject(self, unit: int, stored: pa.RecordBatch, misfits: Rows, reasons: Sequence[str]) -> pa.RecordBatch:
        """Write the rows that do not fit as JSON, with their numbers in the file, from 1."""
        columns = [show_values(column.take(misfits)) for column in stored.columns]
        rows = [dict(zip(stored.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]
        readings = [show_line(json.dumps(row, ensure_ascii=False).encode()) for row in rows]
        group, first, _ = self._pieces[unit]
        before = first + sum(self._footer.row_group(earlier).num_rows for earlier in range(group))
        return make_dead_letters(reasons, readings, [f"{self.name}:row {before + row + 1}" for row in misfits.tolist()])

    def _read(self, piece: _Piece, names: Sequence[str]) -> pa.RecordBatch:
        """Read columns of a piece, by their declared names."""
        stored = tuple(self._columns[name] for name in names)
        if self._is_whole(piece):
            with self._open() as file:
                found = _read_group(file, piece.group, stored)
        else:  # a row group cannot be entered half-way: it is kept while its pieces are asked for
            found = _read_and_keep(self._file, piece.group, stored).slice(piece.first, piece.rows)
        return pa.RecordBatch.from_arrays(found.columns, list(names))

    def _read_times(self, piece: _Piece) -> Int64s:
        """The event times of a piece, without those that do not fit."""
        name = str(self._definition.event_time)
        if not piece.rows:
            return np.zeros(0, np.int64)
        if name in self._columns:
            schema = pa.schema([self._definition.schema.field(name)])
            read = conform(self._count_times(self._read(piece, [name])), schema, name).readings
        else:
            read = self._conform(self._read(piece, self._definition.stored_schema.names)).readings
        times: Int64s = read.column(name).cast(pa.int64()).to_numpy()
        return times

    @contextmanager
    def _open(self) -> Iterator[pq.ParquetFile]:
        with _open_parquet(self._file, self._footer) as file:
            yield file

    def _find_ends(self, unit: int) -> tuple[Micros, Micros]:
        if unit not in self._seen:
            name, piece = str(self._definition.event_time), self._pieces[unit]
            known = self._ends_by_statistics(piece.group, name) if self._is_whole(piece) else None
            if known is not None and self._contradicts_next(piece.group, known[1]):
                known = None
            self._seen[unit] = known or self._ends_by_reading(piece)
        return self._seen[unit]

    def _contradicts_next(self, group: int, last: Micros) -> bool:
        """Whether a row group ends far after the next one begins: a wrong clock may be among its extremes."""
        if self._limit is None or group + 1 == self._footer.num_row_groups:
            return False
        following = self._ends_by_statistics(group + 1, str(self._definition.event_time))
        return following is not None and last > following[0] + self._limit.near_us

    def _ends_by_statistics(self, group: int, name: str) -> tuple[Micros, Micros] | None:
        """Take the extremes of a column of times from the footer, if it holds them and they are times there."""
        if name not in self._leaves:
            return None
        found = self._statistics(group, name)
        kind = json.loads(self._footer.schema.column(self._leaves[name]).logical_type.to_json())
        if kind["Type"] != "Timestamp" or found is None or not found.has_min_max:
            return None
        first, last = (
            int(count or 0) * _NANOS_PER_UNIT[kind["timeUnit"]] // 1_000 for count in (found.min_raw, found.max_raw)
        )
        return Micros(first), Micros(last)

    def _statistics(self, group: int, name: str) -> Any:
        return self._footer.row_group(group).column(self._leaves[name]).statistics

    def _ends_by_reading(self, piece: _Piece) -> tuple[Micros, Micros]:
        """Find the extremes of the event time in its column, without clocks that are ahead."""
        times = self._read_times(piece)
        if self._limit is not None:
            times = times[~self._limit.mark(times, times[:0], START_OF_TIME)[0]]
        return (Micros(int(times.min())), Micros(int(times.max()))) if times.size else (START_OF_TIME, START_OF_TIME)

    @cached_property
    def _footer(self) -> pq.FileMetaData:
        with report_read_errors(self.name):
            return pq.read_metadata(self.name)

    @cached_property
    def _columns(self) -> dict[str, str]:
        """The names the declared columns have in the file."""
        schema, stored = self._definition.stored_schema, self._footer.schema.to_arrow_schema()
        indices = find_columns(self.name, schema, stored.names)
        for field, index in zip(schema, indices, strict=True):
            if not self._is_counted(field) and not can_cast(stored.field(index).type, field.type):
                column = f"column {field.name} of {self.name} is {sql_name(stored.field(index).type)}"
                raise SourceError(f"{column}, which cannot be read as {name_column_type(field)}")
        return {name: stored.names[index] for name, index in zip(schema.names, indices, strict=True)}

    @cached_property
    def _types(self) -> dict[str, pa.DataType]:
        """The types the declared columns have in the file."""
        stored = self._footer.schema.to_arrow_schema()
        return {name: stored.field(column).type for name, column in self._columns.items()}

    @cached_property
    def _leaves(self) -> dict[str, int]:
        """The indices of the declared columns among all of the file, nested ones counted."""
        paths = [self._footer.schema.column(leaf).path for leaf in range(self._footer.num_columns)]
        return {name: paths.index(column) for name, column in self._columns.items() if column in paths}


def _cut_group(whole: _Piece, most: int) -> list[_Piece]:
    """Cut a row group into equal pieces of about so many rows.

    >>> [piece.rows for piece in _cut_group(_Piece(0, 0, 10), 3)], len(_cut_group(_Piece(0, 0, 10), 8))
    ([3, 3, 4], 1)
    """
    count = max(1, round(whole.rows / most))
    bounds = [whole.rows * number // count for number in range(count + 1)]
    return [_Piece(whole.group, first, stop - first) for first, stop in pairwise(bounds)]


@contextmanager
def _open_parquet(stored: StoredFile, footer: pq.FileMetaData | None = None) -> Iterator[pq.ParquetFile]:
    with (
        report_read_errors(stored.path),
        pq.ParquetFile(stored.path, metadata=footer, pre_buffer=False, buffer_size=_READ_BYTES) as file,
    ):
        yield file


def _read_group(file: pq.ParquetFile, group: int, columns: Sequence[str]) -> pa.RecordBatch:
    # In a Spark task Arrow has one core, and handing work to one thread costs more than it brings.
    table = file.read_row_group(group, columns=list(columns), use_threads=pa.cpu_count() > 1)
    return as_batch(table.select(list(columns)))


@lru_cache(maxsize=_KEPT_GROUPS)
def _read_and_keep(stored: StoredFile, group: int, columns: tuple[str, ...]) -> pa.RecordBatch:
    """Read a row group that is asked for piece by piece."""
    with _open_parquet(stored) as file:
        return _read_group(file, group, columns)
