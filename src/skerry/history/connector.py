"""A stream's history, read again as it came: batch by batch, in the order of arrival.

Each batch of the run that was recorded is a unit, and where the planner of steps asks for times it is told the numbers
of batches, which all streams have in common. So in steps of one batch, views see what they saw live. All readings have
been accepted before: none is late.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
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
from skerry.model.time import MICROS, Micros, show
from skerry.sinks.parts import Part
from skerry.sources.source import REJECTS, Connector, Decoded, Lane, Split

__all__ = ["HistoryConnector"]

_ATTEMPTS = 8
"""How often files are looked for again that were put together meanwhile."""
Found = TypeVar("Found")


class _Batches(Lane):
    """The batches of a stream, one unit each."""

    name = "history"

    def __init__(self, numbers: Int64s, counts: Int64s) -> None:
        self._numbers, self._counts = numbers, counts

    def count(self) -> int:
        """How many batches there are."""
        return int(self._numbers.size)

    def first(self, unit: int) -> Micros:
        """The number of the batch, in place of a time."""
        return Micros(int(self._numbers[unit]))

    def last(self, unit: int) -> Micros:
        """The same."""
        return self.first(unit)

    def weight(self, unit: int) -> int:
        """How many readings it has."""
        return int(self._counts[unit])


@dataclass(frozen=True, eq=False)
class HistoryConnector(Connector):
    """The readings of a stream from one moment on, until before another."""

    accepted = True

    definition: Source
    folder: HistoryFolder
    since: Micros
    until: Micros
    numbers: Int64s = field(repr=False)
    counts: Int64s = field(repr=False)

    @classmethod
    def open(cls, definition: Source, folder: HistoryFolder, since: Micros, until: Micros) -> "HistoryConnector":
        """Look which batches there are; what is recorded later is not read."""
        name = definition.name
        if definition.event_time is None:
            raise InputError(f"source {name!r} has no event time, so no span of its history can be replayed")
        if name not in folder.streams():
            known = ", ".join(folder.streams()) or "none"
            raise InputError(f"there is no history of {name!r} in {str(folder.root)!r}; there is one of {known}")
        found = _look_again(lambda: _count(folder, definition, since, until))
        return cls(definition, folder, since, until, *found)

    def lanes(self) -> Sequence[Lane]:
        """All batches, in one lane."""
        return [_Batches(self.numbers, self.counts)]

    def read(self, split: Split) -> Iterator[Decoded]:
        """Read batches, each in the order in which its readings were handed on."""
        for unit in range(split.start, split.stop):
            number = int(self.numbers[unit])
            yield Decoded(_look_again(lambda number=number: self._read(number)), empty(REJECTS))  # type: ignore[misc]

    def inventory(self) -> str:
        """What is replayed."""
        return f"{self.numbers.size} batches of history from {show(self.since)} to {show(self.until)}"

    def _read(self, number: int) -> pa.RecordBatch:
        columns = [*self.definition.schema.names, *(stamp.name for stamp in STAMPS)]
        schema = pa.schema([*self.definition.schema, *STAMPS])
        pieces = []
        for part in _list_parts(self.folder, self.definition.name, self.since, self.until):
            if part.first <= number <= part.last:
                for group in _groups_with(str(part.path), number):
                    rows = _read_group(str(part.path), group, (*columns, POSITION, BATCH))
                    pieces.append(rows.filter(pc.equal(rows.column(BATCH), number)))
        if not pieces:
            return empty(schema)
        table = pa.concat_tables(pieces).sort_by(POSITION)
        times = table.column(self.definition.event_time).cast(pa.int64()).to_numpy()
        return as_batch(table.filter(pa.array(self._is_within(times))).select(columns).cast(schema))

    def _is_within(self, times: Int64s) -> Bools:
        return (times >= self.since) & (times < self.until)


def _list_parts(folder: HistoryFolder, stream: str, since: Micros, until: Micros) -> list[Part]:
    """The files of the days that a span touches."""
    first, last = np.datetime64(since // MICROS["DAY"], "D"), np.datetime64((until - 1) // MICROS["DAY"], "D")
    names = f"day={first}", f"day={last}"
    return [part for part in folder.parts(stream) if names[0] <= part.path.parent.name <= names[1]]


def _count(folder: HistoryFolder, definition: Source, since: Micros, until: Micros) -> tuple[Int64s, Int64s]:
    """The batches with readings of a span, and how many they have."""
    counts: dict[int, int] = {}
    for part in _list_parts(folder, definition.name, since, until):
        with pq.ParquetFile(part.path) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=[BATCH, str(definition.event_time)])
                times = rows.column(definition.event_time).cast(pa.int64()).to_numpy()
                within = rows.column(BATCH).to_numpy()[(times >= since) & (times < until)]
                for number, count in zip(*np.unique(within, return_counts=True), strict=True):
                    counts[int(number)] = counts.get(int(number), 0) + int(count)
    numbers = sorted(counts)
    return np.array(numbers, np.int64), np.array([counts[number] for number in numbers], np.int64)


def _look_again(read: Callable[[], Found]) -> Found:
    """Read files; if one of them is gone, it was put together with others, so look where its readings are now."""
    for _ in range(_ATTEMPTS):
        try:
            return read()
        except FileNotFoundError as error:
            gone = error
    raise SourceError(f"cannot read the history: {gone}")


@lru_cache(maxsize=256)
def _find_groups(path: str) -> list[tuple[int, int]]:
    """The least and the greatest number of a batch in each row group of a file."""
    metadata = pq.read_metadata(path)
    leaf = next(leaf for leaf in range(metadata.num_columns) if metadata.schema.column(leaf).path == BATCH)
    statistics = [metadata.row_group(group).column(leaf).statistics for group in range(metadata.num_row_groups)]
    return [(int(found.min), int(found.max)) for found in statistics]


def _groups_with(path: str, number: int) -> list[int]:
    return [group for group, (least, most) in enumerate(_find_groups(path)) if least <= number <= most]


@lru_cache(maxsize=8)
def _read_group(path: str, group: int, columns: tuple[str, ...]) -> pa.Table:
    """A row group has many batches, and is asked for one after the other."""
    with pq.ParquetFile(path) as file:
        return file.read_row_group(group, columns=list(columns), use_threads=False)
