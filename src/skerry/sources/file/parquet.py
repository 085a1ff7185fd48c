"""Parquet: row groups as units, statistics in place of peeks."""

import json
from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.parquet as pq

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.batch import empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import sql_name
from skerry.sources.file.casts import can_cast
from skerry.sources.file.conform import Rows, conform
from skerry.sources.file.lane import FileLane, StoredFile, find_columns, readable
from skerry.sources.file.letters import dead_letters, shown
from skerry.sources.file.options import FileOptions
from skerry.sources.source import REJECTS, Decoded

__all__ = ["ParquetLane"]

_NANOS_A_TICK = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}


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
        schema = self._definition.schema
        stored = self._read(unit, schema.names)
        found = conform(stored, schema, self._definition.event_time)
        rejects = self._rejected(unit, stored, found.misfits, found.reasons) if found.reasons else empty(REJECTS)
        return Decoded(found.readings, rejects)

    def _rejected(self, unit: int, stored: pa.RecordBatch, misfits: Rows, reasons: Sequence[str]) -> pa.RecordBatch:
        """Write the rows that do not fit as JSON, with their numbers in the file, from 1."""
        columns = [column.take(misfits).cast(pa.string()).to_pylist() for column in stored.columns]
        rows = [dict(zip(stored.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]
        readings = [shown(json.dumps(row, ensure_ascii=False).encode()) for row in rows]
        before = sum(self._footer.row_group(earlier).num_rows for earlier in range(unit))
        return dead_letters(reasons, readings, [f"{self.name}:row {before + row + 1}" for row in misfits.tolist()])

    def _read(self, unit: int, names: Sequence[str]) -> pa.RecordBatch:
        """Read columns of a row group, by their declared names."""
        stored = [self._columns[name] for name in names]
        with readable(self.name), pq.ParquetFile(self.name, metadata=self._footer) as file:
            table = file.read_row_group(unit, columns=stored)
        declared = pa.table([table.column(name) for name in stored], list(names))
        return join(declared.to_batches(), declared.schema)

    def _ends(self, unit: int) -> tuple[Micros, Micros]:
        if unit not in self._seen:
            self._seen[unit] = self._by_statistics(unit) or self._by_reading(unit)
        return self._seen[unit]

    def _by_statistics(self, unit: int) -> tuple[Micros, Micros] | None:
        """Take the extremes of the event time from the footer, if it holds them and it is a time there."""
        found = self._footer.row_group(unit).column(self._event_time_leaf).statistics
        kind = json.loads(self._footer.schema.column(self._event_time_leaf).logical_type.to_json())
        if kind["Type"] != "Timestamp" or found is None or not found.has_min_max:
            return None
        first, last = (
            int(tick or 0) * _NANOS_A_TICK[kind["timeUnit"]] // 1_000 for tick in (found.min_raw, found.max_raw)
        )
        return Micros(first), Micros(last)

    def _by_reading(self, unit: int) -> tuple[Micros, Micros]:
        """Find the extremes of the event time in its column."""
        name = str(self._definition.event_time)
        schema = pa.schema([self._definition.schema.field(name)])
        times = conform(self._read(unit, [name]), schema, name).readings.column(name).cast(pa.int64()).to_numpy()
        return (Micros(int(times.min())), Micros(int(times.max()))) if times.size else (START_OF_TIME, START_OF_TIME)

    @cached_property
    def _footer(self) -> pq.FileMetaData:
        with readable(self.name):
            return pq.read_metadata(self.name)

    @cached_property
    def _columns(self) -> dict[str, str]:
        """The names the declared columns have in the file."""
        schema, stored = self._definition.schema, self._footer.schema.to_arrow_schema()
        places = find_columns(self.name, schema, stored.names)
        for field, place in zip(schema, places, strict=True):
            if not can_cast(stored.field(place).type, field.type):
                told = f"column {field.name} of {self.name} is {sql_name(stored.field(place).type)}"
                raise SourceError(f"{told}, which cannot be read as {sql_name(field.type)}")
        return {name: stored.names[place] for name, place in zip(schema.names, places, strict=True)}

    @cached_property
    def _event_time_leaf(self) -> int:
        """The event time's place among all columns of the file, nested ones counted."""
        name = self._columns[str(self._definition.event_time)]
        return [self._footer.schema.column(leaf).path for leaf in range(self._footer.num_columns)].index(name)
