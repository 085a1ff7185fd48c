"""Rows that some query wants."""

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int32s
from skerry.operators.fan_out import Index
from skerry.operators.operator import Operator

__all__ = ["SelectAny"]

_SAMPLE = 512


class SelectAny(Operator):
    """Drops rows for which no query of an index is true, to spare the operators behind it.

    They would come to the same with all rows. So if more than half of a sample are wanted, a batch passes as it is.
    Stateless.
    """

    def __init__(self, schema: pa.Schema, index: Index) -> None:
        self.schema, self._index = schema, index

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Drop the others."""
        if batch.num_rows > _SAMPLE:
            some = np.linspace(0, batch.num_rows - 1, _SAMPLE).astype(np.int64)
            if 2 * self._find_wanted(batch.take(pa.array(some))).size > _SAMPLE:
                return batch
        return batch.take(pa.array(self._find_wanted(batch)))

    def _find_wanted(self, batch: pa.RecordBatch) -> Int32s:
        rows, _ = self._index.match(batch)
        return np.unique(rows)
