"""Which readings of a unit are ahead of all others of their file."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from skerry.kernels.ahead import WITNESSES
from skerry.model.arrays import Bools, Int64s
from skerry.model.time import START_OF_TIME
from skerry.sources.ahead import AheadLimit
from skerry.sources.file.lane import FileLane

__all__ = ["event_times", "mark_ahead_readings"]

_NONE: Int64s = np.zeros(0, np.int64)


def mark_ahead_readings(lane: FileLane, unit: int, moments: Int64s, limit: AheadLimit) -> Bools | None:
    """Mark the readings of a unit that are ahead of their neighbours, None if there are none.

    A unit without a suspect is looked at once. For the others the readings around the unit are read too, as many as can
    bear witness: so it does not matter where a file is cut.
    """
    suspicious = replace(limit, far_us=limit.near_us, strict=False)
    marks, _, is_short = suspicious.mark(moments, _NONE, START_OF_TIME)
    following = lane.times_after(unit, WITNESSES) if is_short else _NONE
    if following.size:
        marks, _, is_short = suspicious.mark(moments, following, START_OF_TIME)
    if not marks.any() and not (limit.strict and is_short):
        return None
    before = lane.times_before(unit, WITNESSES)
    _, newest, _ = limit.mark(before, np.concatenate([moments, following]), START_OF_TIME)
    marks, _, _ = limit.mark(moments, following, newest)
    return marks if marks.any() else None


def event_times(readings: pa.RecordBatch, event_time: str) -> Int64s:
    """The event times of readings, in microseconds."""
    found: Int64s = readings.column(event_time).cast(pa.int64()).to_numpy()
    return found
