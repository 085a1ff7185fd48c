"""A stream beside a table that need not have a row for it (``LEFT JOIN`` with a table)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.expression import Expression, list_columns
from skerry.operators.derive import Derive
from skerry.operators.lookup import Lookup

__all__ = ["LeftLookup"]


class LeftLookup(Lookup):
    """Each row with every row of a table that has equal keys, or with NULLs if there is none.

    ``condition`` says which rows of the table count, ``pair_condition`` which of them count for a row. Stateless, as a
    lookup is.

    >>> table = pa.record_batch({"id": [1], "road": ["E6"]})
    >>> key = Expression.of("id", pa.int64())
    >>> lookup = LeftLookup(pa.schema({"id": pa.int64()}), "t", table, [(key, key)])
    >>> lookup.transition(pa.record_batch({"id": [1, 2]})).to_pydict()
    {'id': [1, 2], 't.id': [1, None], 't.road': ['E6', None]}
    """

    def __init__(
        self,
        schema: pa.Schema,
        name: str,
        table: pa.RecordBatch,
        keys: Sequence[tuple[Expression, Expression]],
        condition: Expression | None = None,
        pair_condition: Expression | None = None,
    ) -> None:
        if condition:
            table = Derive(list_columns(table.schema), condition).transition(table)
        super().__init__(schema, name, table, keys, pair_condition)

    def _look_up(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Some rows, each with all that was found for it, in the order they have."""
        rows, found = self._find(batch)
        without = np.setdiff1d(np.arange(batch.num_rows), rows)
        rows, found = np.concatenate([rows, without]), np.concatenate([found, np.full(without.size, -1)])
        order = np.argsort(rows, kind="stable")
        rows, found = rows[order], found[order]
        beside = self._table.take(pa.array(found, mask=found < 0))
        return self._put_together(batch.take(pa.array(rows)), beside)
