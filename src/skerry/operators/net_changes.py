"""Changes of one step, less those that take each other back."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools
from skerry.model.batch import empty
from skerry.model.changes import OP_FIELD, mark_minus, with_op
from skerry.operators.grouping import group_rows
from skerry.operators.operator import Operator
from skerry.operators.signed_accumulators import exact_keys

__all__ = ["AsChanges", "NetChanges"]


class AsChanges(Operator):
    """Rows that stay, as changes: each comes. Stateless.

    >>> AsChanges(pa.schema({"k": pa.int64()})).transition(pa.record_batch({"k": [7]})).to_pydict()
    {'_op': ['+'], 'k': [7]}
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = pa.schema([OP_FIELD, *schema])

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Put ``+`` before each row."""
        return with_op(batch, np.zeros(batch.num_rows, np.bool_))


class NetChanges(Operator):
    """Of rows that a batch gives and takes back as often, none is left. Stateless; costs a grouping by all columns.

    A row is taken back if an odd number of the columns ``signs`` says ``-``: a combination of rows of which one goes
    goes too, and what goes of what goes comes. Rows with lists or structs are left as they are.

    >>> schema = pa.schema({"_op": pa.string(), "b._op": pa.string(), "k": pa.int64()})
    >>> rows = pa.RecordBatch.from_pydict({"_op": [*"++-"], "b._op": [*"+--"], "k": [1, 1, 3]}, schema)
    >>> NetChanges(schema, ["_op", "b._op"]).transition(rows).to_pydict()
    {'_op': ['+'], 'k': [3]}
    """

    def __init__(self, schema: pa.Schema, signs: Sequence[str]) -> None:
        self._signs = tuple(signs)
        self._names = [name for name in schema.names if name not in self._signs]
        fields = [schema.field(name) for name in self._names]
        self._is_plain = not any(pa.types.is_nested(field.type) for field in fields)
        self.schema = pa.schema([OP_FIELD, *fields])

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Cancel."""
        if not batch.num_rows:
            return empty(self.schema)
        is_minus = np.logical_xor.reduce([mark_minus(batch, name) for name in self._signs])
        rows = batch.select(self._names)
        if not self._is_plain or is_minus.all() or not is_minus.any():
            return with_op(rows, is_minus)
        left = self._mark_left(rows, is_minus)
        return with_op(rows.filter(pa.array(left)), is_minus[left])

    def _mark_left(self, rows: pa.RecordBatch, is_minus: Bools) -> Bools:
        """Which rows have no other that takes them back: of equal rows the last ones."""
        keys = [key for column in rows.columns for key in exact_keys(column)]
        numbers = group_rows(keys, rows.num_rows).numbers
        count = int(numbers.max()) + 1
        surplus = np.bincount(numbers, np.where(is_minus, -1, 1), count).astype(np.int64)
        left = np.zeros(rows.num_rows, np.bool_)
        for sign, marks in ((1, ~is_minus), (-1, is_minus)):
            of_sign = np.flatnonzero(marks)
            order = of_sign[np.argsort(numbers[of_sign], kind="stable")]
            groups = numbers[order]
            behind = np.searchsorted(groups, groups, side="right") - np.arange(groups.size)
            left[order] = behind <= surplus[groups] * sign
        return left
