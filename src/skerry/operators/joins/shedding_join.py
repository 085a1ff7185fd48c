"""The complete join within a budget: what it cannot hold it gives up, and says so."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from skerry.kernels.joins.snjoin import Tuples
from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.technique import Technique
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side
from skerry.shedding.bounded_join import BoundedJoin
from skerry.shedding.report import report_losses

__all__ = ["SheddingJoin"]

_SHEDDING = "shedding"
_FEWEST_HASH_VALUES, _MOST_HASH_VALUES = 2**16, 2**24
_VALUES_A_ROW = 16
"""Hash values for each row of the budget, so that keys seldom share one; they take 64 bytes per row and side."""
_SHORTEST_SPAN_US = 1_000_000
_SLACK = 3
"""How many rows may be stored for each that is in a window, before those that were given up are let go."""


class SheddingJoin(MultiJoin):
    """Hold at most ``memory_rows`` tuples of each side; a policy says which must go.

    What is given up is counted by spans of event time, as long as the longest window. A sample of the keys
    is never shed, as a measure of what the others lose (``shedding.bounded_join``).
    """

    def __init__(
        self, sides: Sequence[Side], memory_rows: int, policy: str, limit: int = 10_000_000, *, hashed: bool = False
    ) -> None:
        super().__init__(sides, limit=limit)
        self._policy = policy
        self._table = BoundedJoin(
            len(sides),
            np.full(len(sides), memory_rows, np.int64),
            policy,
            hash_values=_count_hash_values(memory_rows) if hashed else 0,
            span_us=max(_SHORTEST_SPAN_US, *(side.span_us or 0 for side in sides)),
        )
        self._technique = _Bounded(self._table, len(sides), limit)
        self._fresh = 0  # rows since those that were given up were looked for

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        self._fresh += batch.num_rows
        return super().transition(batch, stream)

    def losses(self) -> pa.RecordBatch:
        """What was given up in spans that are over."""
        names = [side.name for side in self._sides]
        return report_losses(self._table.losses(self._watermark), names, self._policy)

    def take_in(self, share: float) -> None:
        """Refuse the tuples that promise least, so that about this share of those that come is taken in."""
        self._table.share = share

    def figures(self) -> Mapping[str, int]:
        """What became of all that has come."""
        return {name: int(count.sum()) for name, count in self._table.balance()._asdict().items()}

    def changes(self) -> PageChanges:
        """The changes of the rows, and what is known of the rows."""
        self._let_go()
        changes = super().changes()
        return PageChanges({**changes.put, _SHEDDING: self._table.save()}, changes.drop)

    def snapshot(self) -> StatePages:
        """The rows, and what is known of them."""
        self._let_go()
        return {**super().snapshot(), _SHEDDING: self._table.save()}

    def restore(self, pages: StatePages) -> None:
        """Take rows over, and what was known of them."""
        if _SHEDDING in pages:
            self._table.restore(pages[_SHEDDING])
            super().restore({name: blob for name, blob in pages.items() if name != _SHEDDING})

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> None:
        """One budget is one bucket: there is nothing to spread."""

    def _forget(self) -> None:
        super()._forget()
        live = self._technique.live_count
        if self._fresh > live:
            self._fresh = 0
            if sum(store.count for store in self._stores) > _SLACK * live:
                self._let_go()

    def _let_go(self) -> None:
        """Keep the columns of what is in the windows, and no more."""
        for stream, store in enumerate(self._stores):
            store.keep(self._table.live_rows(stream))


def _count_hash_values(memory_rows: int) -> int:
    """How many hash values patterns are kept by: a power of two that grows with the budget, within bounds.

    >>> [_count_hash_values(rows) for rows in (500, 50_000, 10_000_000)]
    [65536, 1048576, 16777216]
    """
    wanted = 2 ** (_VALUES_A_ROW * memory_rows - 1).bit_length()
    return min(max(wanted, _FEWEST_HASH_VALUES), _MOST_HASH_VALUES)


class _Bounded(Technique):
    """A table within a budget as a technique."""

    def __init__(self, table: BoundedJoin, stream_count: int, limit: int) -> None:
        super().__init__(stream_count, limit)
        self._table = table

    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in, each at the cost of another if there is no room."""
        return self._table.join(Tuples(*arrivals.columns), self.limit)

    def load(self, arrivals: Arrivals) -> None:
        """The table has them: it was saved as a whole."""

    def sweep(self, watermark: Micros) -> None:
        """Forget what has ended."""
        self._table.sweep(watermark)

    @property
    def live_count(self) -> int:
        """How many tuples it holds."""
        return self._table.kept
