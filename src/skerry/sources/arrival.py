"""When readings arrive, and which of a unit arrive between two moments."""

from zlib import crc32

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools, Int64s
from skerry.model.arrival import STAMPS
from skerry.model.time import START_OF_TIME, Micros

__all__ = ["Stamp", "cut", "find_arrivals", "find_piece"]


def find_arrivals(readings: pa.RecordBatch, event_time: str | None, ahead: Bools | None = None) -> Int64s:
    """Find when each reading of a unit arrives: at the greatest event time up to and including its own.

    A reading without an event time arrives with the one before it, and so does one whose clock is ``ahead``. Where no
    column says when a reading was taken, all arrive at the start of time.

    >>> times = pa.array([3, 1, None, 5], pa.timestamp("us"))
    >>> find_arrivals(pa.record_batch({"ts": times}), "ts").tolist()
    [3, 3, 3, 5]
    """
    if event_time is None:
        return np.full(readings.num_rows, START_OF_TIME, np.int64)
    times = readings.column(event_time).cast(pa.int64()).fill_null(START_OF_TIME)
    moments = times.to_numpy(zero_copy_only=False)
    if ahead is not None:
        moments = np.where(ahead, START_OF_TIME, moments)
    arrivals: Int64s = np.maximum.accumulate(moments)
    return arrivals


def cut(readings: pa.RecordBatch, event_time: str | None, after: Micros | None, until: Micros | None) -> pa.RecordBatch:
    """Keep the readings of a unit that arrive after one moment and until another, sharing their memory.

    Arrivals never go back, so what is kept is one piece: of a unit that is cut at some moments, every
    reading is in exactly one of the pieces.

    >>> unit = pa.record_batch({"ts": pa.array([3, 1, 5, 4, 8], pa.timestamp("us"))})
    >>> [cut(unit, "ts", *ends).num_rows for ends in ((None, Micros(3)), (Micros(3), Micros(7)), (Micros(7), None))]
    [2, 2, 1]
    """
    start, stop = find_piece(readings, event_time, after, until)
    return readings.slice(start, stop - start)


def find_piece(
    readings: pa.RecordBatch,
    event_time: str | None,
    after: Micros | None,
    until: Micros | None,
    ahead: Bools | None = None,
) -> tuple[int, int]:
    """Find the first reading of a unit that arrives after one moment, and the first that arrives after another."""
    if after is None and until is None:
        return 0, readings.num_rows
    moments = find_arrivals(readings, event_time, ahead)
    start = 0 if after is None else int(np.searchsorted(moments, after, side="right"))
    stop = readings.num_rows if until is None else int(np.searchsorted(moments, until, side="right"))
    return start, max(start, stop)


class Stamp:
    """Marks the readings of a split with the order of their arrival, unit by unit.

    >>> stamp = Stamp("ts", "a.csv")
    >>> for times in ([3, 5], [4, 6]):
    ...     print(stamp.put_on(pa.record_batch({"ts": pa.array(times, pa.timestamp("us"))})).column(1).to_pylist())
    [3, 5]
    [5, 6]
    """

    def __init__(self, event_time: str | None, lane: str) -> None:
        self._event_time, self._lane = event_time, crc32(lane.encode())
        self._last: int = START_OF_TIME

    def put_on(self, readings: pa.RecordBatch) -> pa.RecordBatch:
        """The readings, with two columns more."""
        moments = np.maximum(find_arrivals(readings, self._event_time), self._last)
        if moments.size:
            self._last = int(moments[-1])
        columns = [pa.array(moments), pa.array(np.full(moments.size, self._lane, np.int64))]
        schema = pa.schema([*readings.schema, *STAMPS])
        return pa.RecordBatch.from_arrays([*readings.columns, *columns], schema=schema)
