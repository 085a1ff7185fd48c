"""What a view takes in of history before its first batch: the readings of several streams, some batches at a time.

A chunk is to a view what a batch would be: readings, then how far time has come. Time goes no further than no reading
that follows is late for, whatever batches and lanes the readings came in: so what is settled is settled for good.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.history.past import Batches, Past
from skerry.model.arrays import Int64s
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros

__all__ = ["Chunk", "find_newest", "read_chunks"]

_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True)
class Chunk:
    """The readings of some batches by stream, in the order in which they were accepted.

    ``newest`` is how far time has come with them, ``heard`` the newest reading so far.
    """

    readings: Mapping[str, pa.RecordBatch]
    newest: Mapping[str, Micros]
    heard: Mapping[str, Micros]


def find_newest(pasts: Sequence[Past]) -> Micros:
    """The newest event time of several streams; the start of time if there is none."""
    return max((past.newest for past in pasts if past.source.event_time is not None), default=START_OF_TIME)


def read_chunks(
    pasts: Sequence[Past], since: Micros, come: Mapping[str, Micros], most_rows: int = _CHUNK_ROWS
) -> Iterator[Chunk]:
    """All readings from a moment on, in chunks of about so many at most, but of whole batches.

    ``come`` is how far streams have come that go on behind their history: time goes no further.
    """
    counted = [(past, past.count(since)) for past in pasts]
    clocks = [_Clock(past, batches, come.get(past.source.name, END_OF_TIME)) for past, batches in counted]
    for first, last in _cut([batches for _, batches in counted], most_rows):
        readings = {past.source.name: past.read(first, last, since) for past in pasts}
        newest, heard = ({}, {}) if not clocks else _tell(clocks, last)
        yield Chunk({name: rows for name, rows in readings.items() if rows.num_rows}, newest, heard)


class _Clock:
    """How far a stream has come after each of its batches."""

    def __init__(self, past: Past, batches: Batches, come: Micros) -> None:
        self.name, self._numbers, self._come = past.source.name, batches.numbers, come
        self._is_timed = past.source.event_time is not None
        self._delay_us = past.source.delay_us or 0
        self._most: Int64s = np.maximum.accumulate(batches.most)
        following = np.minimum.accumulate(batches.least[::-1])[::-1]
        self._following: Int64s = np.append(following[1:], END_OF_TIME)

    def tell(self, last: int) -> tuple[Micros, Micros] | None:
        """How far it has come with a batch, and its newest reading; None if it has not begun."""
        index = int(np.searchsorted(self._numbers, last, side="right")) - 1
        if index < 0 or not self._is_timed:
            return None
        heard = int(self._most[index])
        newest = min(heard, int(self._following[index]) + self._delay_us, self._come)
        return Micros(newest), Micros(heard)


def _tell(clocks: Sequence[_Clock], last: int) -> tuple[dict[str, Micros], dict[str, Micros]]:
    told = {clock.name: moments for clock in clocks if (moments := clock.tell(last))}
    return {name: newest for name, (newest, _) in told.items()}, {name: heard for name, (_, heard) in told.items()}


def _cut(counted: Sequence[Batches], most_rows: int) -> Iterator[tuple[int, int]]:
    """The first and the last batch of each chunk."""
    numbers = np.concatenate([np.empty(0, np.int64), *(batches.numbers for batches in counted)])
    counts = np.concatenate([np.empty(0, np.int64), *(batches.counts for batches in counted)])
    distinct, inverse = np.unique(numbers, return_inverse=True)
    rows = np.bincount(inverse, weights=counts, minlength=distinct.size)
    start, taken = 0, 0.0
    for index in range(distinct.size):
        if index > start and taken + rows[index] > most_rows:
            yield int(distinct[start]), int(distinct[index - 1])
            start, taken = index, 0.0
        taken += rows[index]
    if distinct.size:
        yield int(distinct[start]), int(distinct[-1])
