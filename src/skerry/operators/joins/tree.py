"""Left-deep trees of binary joins: symmetric hash joins, and XJoins."""

from skerry.kernels.joins.chained_tables import Records, pack_entries, sweep_chains
from skerry.kernels.joins.tree import Tree, climb
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.technique import Technique

__all__ = ["SymmetricHashTree", "XJoinTree"]

_ANY_NUMBER = 2**62


class SymmetricHashTree(Technique):
    """Join the first two streams, the result with the third, and so on.

    Partial results are kept, each until the first of its members ends, and count as tuples held. What a
    tuple costs depends on the order of the streams: early ones that join much make many partial results.
    More of them than the limit in one call raise ``LimitError``, as answers do.

    Wilschut, Apers: Pipelining in Query Execution, 1991.

    >>> import numpy as np
    >>> one, moment = np.array([1]), np.array([10])
    >>> join = SymmetricHashTree(stream_count=2, limit=100)
    >>> join.arrive(Arrivals(np.array([0], np.int32), one, moment, moment + 5, np.array([7]))).tolist()
    []
    >>> join.arrive(Arrivals(np.array([1], np.int32), one, moment + 5, moment + 9, np.array([8]))).tolist()
    [[7, 8]]
    """

    name = "shj"
    partition_count = 1

    def __init__(self, stream_count: int, limit: int) -> None:
        super().__init__(stream_count, limit)
        self._tree = Tree.of(stream_count, self.partition_count)

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, each up to the root before the next."""
        return climb(self._tree, self._pack(arrivals), self.limit, self.stream_count)

    def load(self, arrivals: Arrivals) -> None:
        """Take tuples in, and form their partial results anew."""
        climb(self._tree, self._pack(arrivals), _ANY_NUMBER, self.stream_count - 1)

    def sweep(self, watermark: Micros) -> None:
        """Forget tuples and partial results, once they are many."""
        self._tree.chains = sweep_chains(self._tree.chains, watermark)

    @property
    def live_count(self) -> int:
        """How many tuples and partial results there are in all tables."""
        return self._tree.chains.entry_count

    def _pack(self, arrivals: Arrivals) -> Records:
        return pack_entries(*arrivals.columns, self.stream_count)


class XJoinTree(SymmetricHashTree):
    """The same tree, every hash table split into partitions by hash.

    A partition of an input has buckets of its own, so that it can leave memory without the others; its
    partner on the other side of the node, which holds all that joins with it, has the same number.

    Urhan, Franklin: XJoin: A Reactively-Scheduled Pipelined Join Operator, 2000.
    """

    name = "xjoin"
    partition_count = 16
