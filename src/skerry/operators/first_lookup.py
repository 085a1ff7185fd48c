"""A stream beside a table of which one row is enough (``EXISTS`` with conditions on both)."""

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.operators.left_lookup import LeftLookup

__all__ = ["FirstLookup"]


class FirstLookup(LeftLookup):
    """Each row once, with the first row of a table that has equal keys and meets the condition, or with NULLs.

    >>> from skerry.model.expression import Expression
    >>> table = pa.record_batch({"id": [1, 1], "road": ["E6", "E18"]})
    >>> key = Expression.of("id", pa.int64())
    >>> lookup = FirstLookup(pa.schema({"id": pa.int64()}), "t", table, [(key, key)])
    >>> lookup.transition(pa.record_batch({"id": [1, 2]})).to_pydict()
    {'id': [1, 2], 't.id': [1, None], 't.road': ['E6', None]}
    """

    def _find(self, batch: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """Of all pairs, the first of each row."""
        rows, found = super()._find(batch)
        first, position = np.unique(rows, return_index=True)
        return first, found[position]
