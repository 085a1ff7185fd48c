"""The gate that every reading passes: it tells late readings from those in time.

A reading is late if it lies behind the watermark when it arrives. The watermark it meets is that of
all readings of earlier batches and, where a split is in stored order, of those before it in the split.
So what is late does not depend on how many splits are read at once, and within the declared delay
nothing ever is.
"""

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.kernels.lateness import mark_late
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.time import Micros

__all__ = ["Gate"]


class Gate:
    """Lets a split's readings through, from a given newest event time on.

    ``ordered`` says that the split is in stored order; what Spark hands over is not. ``accepted`` says that its
    readings have passed a gate before: none is late.
    """

    def __init__(self, source: Source, newest: Micros, *, ordered: bool = True, accepted: bool = False) -> None:
        self._source, self._ordered, self._accepted = source, ordered, accepted
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
        if self._accepted:
            late, count, newest = np.zeros(moments.size, np.bool_), 0, max(self.newest, int(moments.max()))
        elif self._ordered:
            late, count, newest = mark_late(moments, self.newest, delay_us)
        else:
            late = moments < self._before - delay_us
            count, newest = int(late.sum()), max(self.newest, int(moments.max()))
        self.newest = Micros(newest)
        return late, count
