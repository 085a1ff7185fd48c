"""AMJoin: an MJoin that knows, before it probes, whether a key is missing in some stream."""

from skerry.kernels.joins.amjoin import absences
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.mjoin import MJoin

__all__ = ["AMJoin"]


class AMJoin(MJoin):
    """Probe the tables only if each stream may hold the key.

    One bit vector per hash value says which streams have none of it. It is exact about what has come, but learns
    only at the next full sweep what has ended. Any number of streams, at 8 bytes per value for each 64.

    Kwon, Kim, Kim, Son: AMJoin: An Advanced Join Algorithm for Multiple Data Streams Using a Bit-Vector
    Hash Table, 2009.
    """

    name = "amjoin"

    def __init__(self, stream_count: int, limit: int) -> None:
        super().__init__(stream_count, limit)
        self._rebuild_vectors(0)

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, with so many vectors that few keys share one."""
        if self.live_count + arrivals.count > self._state.vectors.shape[0]:
            self._rebuild_vectors(max(self.live_count, arrivals.count))
        return super().arrive(arrivals)

    def load(self, arrivals: Arrivals) -> None:
        """Put tuples into their tables, and rebuild the vectors."""
        super().load(arrivals)
        self._rebuild_vectors(self.live_count)

    def sweep(self, watermark: Micros) -> None:
        """Forget ended tuples once they are many, and rebuild the vectors then."""
        before = self._state.chains
        super().sweep(watermark)
        if self._state.chains is not before:
            self._rebuild_vectors(self.live_count)

    def _rebuild_vectors(self, expected: int) -> None:
        self._state.vectors = absences(self._state.chains, expected)
