"""The time of the newest member of a combination."""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.types import TIMESTAMP
from skerry.operators.operator import Operator

__all__ = ["Newest"]


class Newest(Operator):
    """Rows with the greatest of some of their times behind them; a member that is missing has none. Stateless.

    >>> times = {name: pa.array(values, pa.timestamp("us")) for name, values in {"a": [3, 4], "b": [8, None]}.items()}
    >>> rows = pa.record_batch(times)
    >>> Newest(rows.schema.append(pa.field("newest", TIMESTAMP)), ["a", "b"]).transition(rows)[2].view("int64").tolist()
    [8, 4]
    """

    def __init__(self, schema: pa.Schema, times: Sequence[str]) -> None:
        self.schema, self._times = schema, list(times)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Append the newest time as a column."""
        newest = pc.max_element_wise(*(batch.column(time) for time in self._times), skip_nulls=True)
        return pa.RecordBatch.from_arrays([*batch.columns, newest.cast(TIMESTAMP)], schema=self.schema)
