"""Rows repeated for each element of a list."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.operators.operator import Operator

__all__ = ["Unnest"]


class Unnest(Operator):
    """Give each row once per element of a list column, in the order of the elements.

    A row whose list is NULL or empty is given no time, or once with NULL if ``keeps_empty``. ``number`` names a column
    with the position of the element. Stateless; costs a copy of the row per element.

    >>> schema = pa.schema({"k": pa.int64(), "tags": pa.list_(pa.string())})
    >>> batch = pa.record_batch({"k": [1, 2], "tags": [["a", "b"], []]}, schema=schema)
    >>> Unnest(schema, "tags").transition(batch).to_pylist()
    [{'k': 1, 'tags': 'a'}, {'k': 1, 'tags': 'b'}]
    """

    def __init__(self, schema: pa.Schema, column: str, number: str | None = None, *, keeps_empty: bool = False) -> None:
        self._column, self._number, self._keeps_empty = column, number, keeps_empty
        self._position = schema.get_field_index(column)
        fields = schema.set(self._position, pa.field(column, schema.field(column).type.value_type))
        self.schema = fields.append(pa.field(number, pa.int64())) if number else fields

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Repeat the rows."""
        lists = batch.column(self._column)
        counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        given = np.maximum(counts, 1) if self._keeps_empty else counts
        rows = np.repeat(np.arange(batch.num_rows), given)
        place = np.arange(rows.size) - np.repeat(np.cumsum(given) - given, given)
        missing = place >= counts[rows]
        first = np.cumsum(counts) - counts
        elements = pc.list_flatten(lists).take(pa.array(first[rows] + place, mask=missing))
        columns = batch.take(pa.array(rows)).columns
        columns[self._position] = elements
        if self._number:
            columns.append(pa.array(place + 1, mask=missing))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
