"""MJoin: one hash table per stream, and each tuple probes the others, the most selective first."""

from skerry.kernels.joins.amjoin import no_vectors
from skerry.kernels.joins.chained_tables import Records, insert_all, pack_entries, sweep_chains
from skerry.kernels.joins.mjoin import Probing, mjoin
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.technique import Technique

__all__ = ["MJoin"]


class MJoin(Technique):
    """Probe one table after the other, and form partial results level by level.

    The order is that of the fraction of recent probes that found a match, ascending, and a tuple stops at
    the first table without one. What a tuple costs grows with the number of streams that have its key.
    A tuple whose partial results at one level exceed the limit raises ``LimitError`` too.

    Viglas, Naughton, Burger: Maximizing the Output Rate of Multi-Way Join Queries over Streaming
    Information Sources, 2003; as described by Ali, Aref, Kamel: Multi-way Joins for Sensor-Network
    Databases, 2005, section 6.

    >>> import numpy as np
    >>> one, moment = np.array([1]), np.array([10])
    >>> join = MJoin(stream_count=2, limit=100)
    >>> join.arrive(Arrivals(np.array([0], np.int32), one, moment, moment + 5, np.array([7]))).tolist()
    []
    >>> join.arrive(Arrivals(np.array([1], np.int32), one, moment + 5, moment + 9, np.array([8]))).tolist()
    [[7, 8]]
    """

    name = "mjoin"

    def __init__(self, stream_count: int, limit: int) -> None:
        super().__init__(stream_count, limit)
        self._state = Probing.of(stream_count, no_vectors())

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, each before the next is looked at."""
        return mjoin(self._state, self._pack(arrivals), self.limit)

    def load(self, arrivals: Arrivals) -> None:
        """Put tuples into their tables."""
        self._state.chains = insert_all(self._state.chains, self._pack(arrivals))

    def sweep(self, watermark: Micros) -> None:
        """Forget ended tuples, once they are many."""
        self._state.chains = sweep_chains(self._state.chains, watermark)

    @property
    def live_count(self) -> int:
        """How many tuples there are in all tables."""
        return self._state.chains.entry_count

    def _pack(self, arrivals: Arrivals) -> Records:
        return pack_entries(*arrivals.columns, self.stream_count)
