"""The gate every reading passes: late ones are told from those in time.

A reading is late if it lies behind the watermark when it arrives. The watermark it meets is that of
all readings of earlier batches and, where a split is in stored order, of those before it in the split.
So what is late does not depend on how many splits are read at once, and within the declared delay
nothing ever is.
"""

from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.kernels.lateness import mark_late
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros

__all__ = ["Gate", "Tally", "watermark"]


def watermark(source: Source, newest: Micros) -> Micros:
    """How far a source has come: its newest event time less its declared delay.

    Without a declared delay nothing is settled until the input ends.
    """
    if newest >= END_OF_TIME:
        return END_OF_TIME
    if source.delay_us is None or newest <= START_OF_TIME:
        return START_OF_TIME
    return Micros(newest - source.delay_us)


@dataclass(frozen=True)
class Tally:
    """What became of the readings that came in: each is counted exactly once.

    >>> Tally(3, 1, 0) + Tally(1, 0, 2)
    Tally(accepted=4, late=1, rejected=2)
    """

    accepted: int = 0
    late: int = 0
    rejected: int = 0

    @property
    def read(self) -> int:
        """All that came in."""
        return self.accepted + self.late + self.rejected

    def __add__(self, other: "Tally") -> "Tally":
        """Count two together."""
        return Tally(self.accepted + other.accepted, self.late + other.late, self.rejected + other.rejected)


class Gate:
    """Lets a split's readings through, from a given newest event time on.

    ``ordered`` says that the split is in stored order; what Spark hands over is not.
    """

    def __init__(self, source: Source, newest: Micros, *, ordered: bool = True) -> None:
        self._source, self._ordered = source, ordered
        self._before = self.newest = newest

    def admit(self, readings: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Tell the readings in time from the late ones."""
        if self._source.event_time is None or self._source.delay_us is None or not readings.num_rows:
            return readings, empty(readings.schema)
        moments = readings.column(self._source.event_time).cast(pa.int64()).to_numpy()
        late, count = self._late(moments, self._source.delay_us)
        if not count:
            return readings, empty(readings.schema)
        return readings.filter(pa.array(~late)), readings.filter(pa.array(late))

    def _late(self, moments: Int64s, delay_us: int) -> tuple[Bools, int]:
        """Mark the late ones, count them, and remember the newest moment of all."""
        if self._ordered:
            late, count, newest = mark_late(moments, self.newest, delay_us)
        else:
            late = moments < self._before - delay_us
            count, newest = int(late.sum()), max(self.newest, int(moments.max()))
        self.newest = Micros(newest)
        return late, count
