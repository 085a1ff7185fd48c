"""Parquet: row groups as units, statistics instead of peeks."""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.batch import as_batch, empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP, sql_name
from skerry.sources.file.conform import EARLIEST, LATEST, Conformed, Rows, can_cast, conform
from skerry.sources.file.dead_letters import make_dead_letters, show_line
from skerry.sources.file.lane import FileLane, StoredFile, find_columns, report_read_errors
from skerry.sources.file.options import FileOptions
from skerry.sources.source import REJECTS, Decoded

__all__ = ["ParquetLane"]

_READ_BYTES = 1 << 20
"""How much of a column is read ahead: all of it would be as much memory again."""

_PIECE_ROWS = 1 << 16
"""In what steps a row group is read that is not needed whole."""

_NANOS_PER_UNIT = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}


class ParquetLane(FileLane):
    """A Parquet file. Only declared columns are read: as they are, or by a cast where types differ.

    Times of any unit become microseconds; one with a zone is brought to UTC, one without is taken to be
    in UTC. Only the footer is kept in memory, and no file stays open.
    """

    def __init__(self, file: StoredFile, definition: Source, options: FileOptions, block_bytes: int) -> None:
        super().__init__(file, definition, options, block_bytes)
        self._seen: dict[int, tuple[Micros, Micros]] = {}

    def check(self) -> None:
        """Read the footer, and compare its columns with the declaration."""
        _ = self._columns

    def count(self) -> int:
        """How many row groups there are."""
        return self._footer.num_row_groups

    def weight(self, unit: int) -> int:
        """How many rows a row group has."""
        return self._footer.row_group(unit).num_rows

    def decode(self, unit: int) -> Decoded:
        """Read a row group."""
        stored = self._read(unit, self._definition.schema.names)
        found = self._conform(stored)
        rejects = self._reject(unit, stored, found.misfits, found.reasons) if found.reasons else empty(REJECTS)
        return Decoded(found.readings, rejects)

    def decode_until(self, unit: int, moment: Micros) -> Decoded:
        """Read a row group at least as far as its readings arrive until a moment, and not much farther.

        Dead letters come with the first piece of a unit: where the footer leaves it open whether there are
        any, the whole of it is read.
        """
        schema, event_time = self._definition.schema, self._definition.event_time
        if event_time is None or not all(self._fits(unit, name) for name in schema.names):
            return self.decode(unit)
        names = [self._columns[name] for name in schema.names]
        pieces: list[pa.RecordBatch] = []
        with report_read_errors(self.name), self._open() as file:
            for stored in file.iter_batches(_PIECE_ROWS, row_groups=[unit], columns=names, use_threads=False):
                pieces.append(self._conform(stored.select(names)).readings)
                if pc.any(pc.greater(pieces[-1].column(event_time), pa.scalar(moment, TIMESTAMP))).as_py():
                    break
        return Decoded(join(pieces, schema), empty(REJECTS))

    def _conform(self, stored: pa.RecordBatch) -> Conformed:
        return conform(stored, self._definition.schema, self._definition.event_time)

    def _fits(self, unit: int, name: str) -> bool:
        """Whether the footer shows that a column makes no row of a row group a misfit."""
        if self._definition.schema.field(name).type != TIMESTAMP:
            return self._types[name] == self._definition.schema.field(name).type
        ends = self._ends_by_statistics(unit, name)
        if ends is None or ends[0] < EARLIEST or ends[1] > LATEST:
            return False
        return name != self._definition.event_time or self._statistics(unit, name).null_count == 0

    def _reject(self, unit: int, stored: pa.RecordBatch, misfits: Rows, reasons: Sequence[str]) -> pa.RecordBatch:
        """Write the rows that do not fit as JSON, with their numbers in the file, from 1."""
        columns = [column.take(misfits).cast(pa.string()).to_pylist() for column in stored.columns]
        rows = [dict(zip(stored.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]
        readings = [show_line(json.dumps(row, ensure_ascii=False).encode()) for row in rows]
        before = sum(self._footer.row_group(earlier).num_rows for earlier in range(unit))
        return make_dead_letters(reasons, readings, [f"{self.name}:row {before + row + 1}" for row in misfits.tolist()])

    def _read(self, unit: int, names: Sequence[str]) -> pa.RecordBatch:
        """Read columns of a row group, by their declared names."""
        stored = [self._columns[name] for name in names]
        with report_read_errors(self.name), self._open() as file:
            # In a Spark task Arrow has one core, and handing work to one thread costs more than it brings.
            table = file.read_row_group(unit, columns=stored, use_threads=pa.cpu_count() > 1)
        return as_batch(table.select(stored).rename_columns(list(names)))

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(self.name, metadata=self._footer, pre_buffer=False, buffer_size=_READ_BYTES)

    def _find_ends(self, unit: int) -> tuple[Micros, Micros]:
        if unit not in self._seen:
            name = str(self._definition.event_time)
            self._seen[unit] = self._ends_by_statistics(unit, name) or self._ends_by_reading(unit)
        return self._seen[unit]

    def _ends_by_statistics(self, unit: int, name: str) -> tuple[Micros, Micros] | None:
        """Take the extremes of a column of times from the footer, if it holds them and they are times there."""
        found = self._statistics(unit, name)
        kind = json.loads(self._footer.schema.column(self._leaves[name]).logical_type.to_json())
        if kind["Type"] != "Timestamp" or found is None or not found.has_min_max:
            return None
        first, last = (
            int(count or 0) * _NANOS_PER_UNIT[kind["timeUnit"]] // 1_000 for count in (found.min_raw, found.max_raw)
        )
        return Micros(first), Micros(last)

    def _statistics(self, unit: int, name: str) -> Any:
        return self._footer.row_group(unit).column(self._leaves[name]).statistics

    def _ends_by_reading(self, unit: int) -> tuple[Micros, Micros]:
        """Find the extremes of the event time in its column."""
        name = str(self._definition.event_time)
        schema = pa.schema([self._definition.schema.field(name)])
        times = conform(self._read(unit, [name]), schema, name).readings.column(name).cast(pa.int64()).to_numpy()
        return (Micros(int(times.min())), Micros(int(times.max()))) if times.size else (START_OF_TIME, START_OF_TIME)

    @cached_property
    def _footer(self) -> pq.FileMetaData:
        with report_read_errors(self.name):
            return pq.read_metadata(self.name)

    @cached_property
    def _columns(self) -> dict[str, str]:
        """The names the declared columns have in the file."""
        schema, stored = self._definition.schema, self._footer.schema.to_arrow_schema()
        indices = find_columns(self.name, schema, stored.names)
        for field, index in zip(schema, indices, strict=True):
            if not can_cast(stored.field(index).type, field.type):
                column = f"column {field.name} of {self.name} is {sql_name(stored.field(index).type)}"
                raise SourceError(f"{column}, which cannot be read as {sql_name(field.type)}")
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
        return {name: paths.index(column) for name, column in self._columns.items()}
