"""AMJoin: an MJoin that knows, before it probes, whether a key is missing in some stream."""

from skerry.kernels.joins.amjoin import absences
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.mjoin import MJoin
from skerry.operators.joins.technique import Arrivals

__all__ = ["AMJoin"]


class AMJoin(MJoin):
    """Probe the tables only if each stream may hold the key.

    A bit-vector a hash value says which streams have none of it. It is exact about what came, but learns
    late what has ended: at a sweep that pays. Any number of streams, at 8 bytes a value for each 64.

    Kwon, Kim, Kim, Son: AMJoin: An Advanced Join Algorithm for Multiple Data Streams Using a Bit-Vector
    Hash Table, 2009.
    """

    name = "amjoin"

    def __init__(self, stream_count: int, limit: int) -> None:
        super().__init__(stream_count, limit)
        self._look_again(0)

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, with vectors enough for them not to share too many."""
        if self.live_count + arrivals.count > self._state.vectors.shape[0]:
            self._look_again(max(self.live_count, arrivals.count))
        return super().arrive(arrivals)

    def load(self, arrivals: Arrivals) -> None:
        """Put tuples into their tables, and look what is missing then."""
        super().load(arrivals)
        self._look_again(self.live_count)

    def sweep(self, watermark: Micros) -> None:
        """Forget, once they are many, and look what is missing then."""
        before = self._state.chains
        super().sweep(watermark)
        if self._state.chains is not before:
            self._look_again(self.live_count)

    def _look_again(self, expected: int) -> None:
        self._state.vectors = absences(self._state.chains, expected)
