"""SNJoin: one hash table for all streams."""

import numpy as np

from skerry.kernels.joins.snjoin import OccurrenceTable, Tuples
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.technique import Technique

__all__ = ["SNJoin"]


class SNJoin(Technique):
    """Keep the tuples of all streams in one hash table, so that an arrival looks its key up once.

    A join is pursued only if all other streams have the key; then all combinations are found in one
    step, without partial results. ``counts`` says of each stream how many of its last rows are live,
    or 0 if time says so; without it, time does for all. Costs as much as is given, and a little for
    each tuple; one that is delayed also passes by the newer tuples of its key.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 2.

    >>> join = SNJoin(stream_count=2, limit=10)
    >>> streams, keys, rows = np.array([0, 1], np.int32), np.array([7, 7]), np.array([0, 0])
    >>> join.arrive(Arrivals(streams, keys, starts=np.array([1, 4]), ends=np.array([11, 14]), rows=rows)).tolist()
    [[0, 0]]
    """

    def __init__(self, stream_count: int, limit: int, counts: Int64s | None = None) -> None:
        super().__init__(stream_count, limit)
        self._table = OccurrenceTable(stream_count, np.zeros(stream_count, np.int64) if counts is None else counts)

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, and give what they complete."""
        return self._table.join(Tuples(*arrivals.columns), self.limit)

    def load(self, arrivals: Arrivals) -> None:
        """Take tuples in, and give nothing."""
        self._table.load(Tuples(*arrivals.columns))

    def sweep(self, watermark: Micros) -> None:
        """Forget the tuples of each stream that ended before ``watermark``, until the first that has not."""
        self._table.sweep(watermark)

    @property
    def live_count(self) -> int:
        """How many tuples the table holds."""
        return self._table.count
