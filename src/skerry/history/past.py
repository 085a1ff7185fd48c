"""What is there of a stream's history before some batch, read in the order in which it was accepted.

Of the batches of other runs, only readings before a moment count: a run that reads a file from its start reads
again what an earlier run had of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from skerry.catalog import Source
from skerry.errors import InputError, SourceError
from skerry.history.folder import BATCH, POSITION, HistoryFolder
from skerry.model.arrays import Bools, Int64s
from skerry.model.arrival import STAMPS
from skerry.model.batch import as_batch, empty
from skerry.model.time import END_OF_TIME, MICROS, START_OF_TIME, Micros
from skerry.sinks.parts import Part

__all__ = ["Batches", "Past", "look_again"]

_ATTEMPTS = 8
"""How often files are looked for again that were put together meanwhile."""
_MOST_GROUPS = 4
"""So many row groups are kept that may be asked for again."""
Found = TypeVar("Found")


@dataclass(frozen=True)
class Batches:
    """Some batches of a stream: their numbers, how many readings each has, and their first and last event times."""

    numbers: Int64s
    counts: Int64s
    least: Int64s
    most: Int64s


@dataclass(frozen=True, eq=False)
class Past:
    """The batches of a stream before number ``bound``; of those that are not ``own``, readings before ``begins``."""

    folder: HistoryFolder
    source: Source
    bound: int
    own: tuple[range, ...] = ()
    begins: Micros = END_OF_TIME
    _groups: dict[tuple[str, int, int], pa.Table] = field(default_factory=dict, repr=False)

    @cached_property
    def newest(self) -> Micros:
        """The newest event time there is; the start of time if there is nothing."""
        return Micros(
            max(look_again(lambda: [self._find_newest(part) for part in self._parts()]), default=START_OF_TIME)
        )

    def count(self, since: Micros) -> Batches:
        """The batches with readings from a moment on."""
        return look_again(lambda: self._count(since))

    def read(self, first: int, last: int, since: Micros) -> pa.RecordBatch:
        """The readings of batches from one number to another, both included, with the stamps of their arrival."""
        return look_again(lambda: self._read(first, last, since))

    def _parts(self, since: Micros = START_OF_TIME) -> list[Part]:
        day = f"day={np.datetime64(since // MICROS['DAY'], 'D')}" if since > START_OF_TIME else ""
        return [
            part
            for part in self.folder.parts(self.source.name)
            if part.first < self.bound and part.path.parent.name >= day
        ]

    def _find_newest(self, part: Part) -> int:
        """From the statistics of a file; from its readings only where these do not all count."""
        found = START_OF_TIME
        with pq.ParquetFile(part.path) as file:
            if part.last < self.bound and self.begins >= END_OF_TIME:
                leaves = {file.metadata.schema.column(n).path: n for n in range(file.metadata.num_columns)}
                leaf = leaves[self._time_column]
                groups = [file.metadata.row_group(n).column(leaf).statistics for n in range(file.num_row_groups)]
                if all(group is not None and group.has_min_max for group in groups):
                    return max((int(group.max_raw) for group in groups), default=found)
            for rows in self._read_times(file, START_OF_TIME):
                found = Micros(max(found, int(rows[1].max(initial=found))))
        return found

    def _count(self, since: Micros) -> Batches:
        found: list[tuple[Int64s, Int64s]] = []
        for part in self._parts(since):
            with pq.ParquetFile(part.path) as file:
                found += self._read_times(file, since)
        numbers = np.concatenate([np.empty(0, np.int64), *(each for each, _ in found)])
        times = np.concatenate([np.empty(0, np.int64), *(each for _, each in found)])
        order = np.argsort(numbers, kind="stable")
        numbers, times = numbers[order], times[order]
        distinct, starts, counts = np.unique(numbers, return_index=True, return_counts=True)
        if not distinct.size:
            return Batches(distinct, counts, distinct, distinct)
        return Batches(distinct, counts, np.minimum.reduceat(times, starts), np.maximum.reduceat(times, starts))

    def _read_times(self, file: pq.ParquetFile, since: Micros) -> list[tuple[Int64s, Int64s]]:
        """By row group, the batches and event times of the readings that count."""
        columns = [BATCH, *([self.source.event_time] if self.source.event_time else [])]
        found = []
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=columns, use_threads=False)
            numbers, times = rows.column(BATCH).to_numpy(), self._times(rows)
            chosen = self._choose(numbers, times, since)
            found.append((numbers[chosen], times[chosen]))
        return found

    def _choose(self, numbers: Int64s, times: Int64s, since: Micros) -> Bools:
        chosen: Bools = (numbers < self.bound) & (times >= since)
        if self.begins < END_OF_TIME:
            is_own = np.zeros(numbers.size, np.bool_)
            for own in self.own:
                is_own |= (numbers >= own.start) & (numbers < own.stop)
            chosen &= is_own | (times < self.begins)
        return chosen

    def _read(self, first: int, last: int, since: Micros) -> pa.RecordBatch:
        pieces: list[pa.Table] = []
        for part in self._parts(since):
            if part.first <= last and part.last >= first:
                pieces += self._read_part(part.path, first, last)
        schema = pa.schema([*self.source.schema, *STAMPS])
        if not pieces:
            return empty(schema)
        table = pa.concat_tables(pieces)
        numbers = table.column(BATCH).to_numpy()
        table = table.filter(pa.array(self._choose(numbers, self._times(table), since)))
        table = table.sort_by([(BATCH, "ascending"), (POSITION, "ascending")])
        return as_batch(table.select(schema.names).cast(schema))

    def _read_part(self, path: Path, first: int, last: int) -> Iterator[pa.Table]:
        """The readings of some batches in a file, in the declared columns. A column that is new since is NULL."""
        with pq.ParquetFile(path) as file:
            leaf = next(n for n in range(file.metadata.num_columns) if file.metadata.schema.column(n).path == BATCH)
            for group in range(file.num_row_groups):
                known = file.metadata.row_group(group).column(leaf).statistics
                if known is None or (known.min <= last and known.max >= first):
                    rows = self._read_group(path, file, group)
                    numbers = rows.column(BATCH)
                    wanted = pc.and_(pc.greater_equal(numbers, first), pc.less_equal(numbers, last))
                    yield rows.filter(wanted)

    def _read_group(self, path: Path, file: pq.ParquetFile, group: int) -> pa.Table:
        """A row group has many batches, and is asked for one after the other."""
        key = (str(path), path.stat().st_mtime_ns, group)
        if key not in self._groups:
            while len(self._groups) >= _MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            self._groups[key] = self._conform(file.read_row_group(group, use_threads=False))
        return self._groups[key]

    def _conform(self, rows: pa.Table) -> pa.Table:
        order = [pa.field(BATCH, pa.int64()), pa.field(POSITION, pa.int64()), *STAMPS]
        fields = [*self.source.schema, *order]
        try:
            columns = [
                rows.column(each.name).cast(each.type)
                if each.name in rows.column_names
                else pa.nulls(rows.num_rows, each.type)
                for each in fields
            ]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            wrong = f"the history of {self.source.name!r} has other types than the source by now: {error}"
            raise InputError(wrong) from None
        return pa.table(columns, schema=pa.schema([field.with_nullable(True) for field in fields]))

    def _times(self, rows: pa.Table) -> Int64s:
        """Event times; those of a stream without are all one."""
        if self.source.event_time is None:
            return np.zeros(rows.num_rows, np.int64)
        times: Int64s = rows.column(self.source.event_time).cast(pa.int64()).to_numpy()
        return times

    @property
    def _time_column(self) -> str:
        return str(self.source.event_time)


def look_again(read: Callable[[], Found]) -> Found:
    """Read files; if one of them is gone, it was put together with others, so look where its readings are now."""
    for _ in range(_ATTEMPTS):
        try:
            return read()
        except FileNotFoundError as error:
            gone = error
    raise SourceError(f"cannot read the history: {gone}")
