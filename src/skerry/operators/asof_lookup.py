"""A stream beside the latest rows of a table (``ASOF JOIN`` with a table)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.expression import Expression
from skerry.operators.derive import Derive
from skerry.operators.joins.latest import Timed, find_latest
from skerry.operators.lookup import Lookup

__all__ = ["AsofLookup"]


class AsofLookup(Lookup):
    """Each row with the row of a table that has equal keys and the latest time at or before its own.

    Of rows of the table with one key and time, the one whose columns sort last is the latest. A row without a time
    finds nothing. Stateless; a batch costs a sort of the batch and the table.

    >>> stamps = pa.timestamp("us")
    >>> table = pa.record_batch({"since": pa.array([1, 5], stamps), "limit": [30, 50]})
    >>> times = Expression.of("ts", stamps), Expression.of("since", stamps)
    >>> lookup = AsofLookup(pa.schema({"ts": stamps}), "t", table, [], times)
    >>> lookup.transition(pa.record_batch({"ts": pa.array([0, 4, 5], stamps)})).column("t.limit").to_pylist()
    [30, 50]
    """

    def __init__(
        self,
        schema: pa.Schema,
        name: str,
        table: pa.RecordBatch,
        keys: Sequence[tuple[Expression, Expression]],
        times: tuple[Expression, Expression],
        kept: bool = False,
        strictly: bool = False,
    ) -> None:
        of_row, of_table = (Derive([("time", time)]) for time in times)
        known = of_table.transition(table).column(0).is_valid()
        super().__init__(schema, name, table.filter(known), keys)
        self._piece = None
        self._time, self._kept, self._strictly = of_row, kept, strictly
        moments = of_table.transition(self._table).column(0).cast(pa.int64()).to_numpy()
        self._others = Timed(self._table, self._keys.columns, moments)

    def _look_up(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Each row with what was found for it."""
        found = self._find_each(batch)
        rows = np.arange(batch.num_rows) if self._kept else np.flatnonzero(found >= 0)
        found = found[rows]
        beside = self._table.take(pa.array(found, mask=found < 0))
        return self._put_together(batch.take(pa.array(rows)), beside)

    def _find_each(self, batch: pa.RecordBatch) -> Int64s:
        times = self._time.transition(batch).column(0)
        moments = times.cast(pa.int64()).fill_null(0).to_numpy()
        keys = self._of_row.transition(batch).columns
        found = find_latest(Timed(batch, keys, moments), self._others, strictly=self._strictly)
        return np.where(times.is_valid().to_numpy(zero_copy_only=False), found, -1)
