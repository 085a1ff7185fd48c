"""The first half of an aggregate that is revised: a batch folded into few rows, before anything is shuffled."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.batch import empty, join
from skerry.model.changes import drop_op, mark_minus
from skerry.model.slices import Slices
from skerry.model.window import Window
from skerry.operators.accumulators import Accumulator, Count
from skerry.operators.grouping import canonical, group_rows
from skerry.operators.operator import Operator
from skerry.operators.partial_aggregate import PartialAggregate, accumulators_of, fold_groups, partial_schema
from skerry.operators.signed_accumulators import Signed, sign
from skerry.plan.fold import Fold

__all__ = ["PartialChanges", "PartialGroups", "accumulators_for"]


def accumulators_for(folds: Sequence[Fold], *, is_signed: bool) -> tuple[Accumulator, ...]:
    """What must be remembered; of rows that can be taken back, also how many there are."""
    found = accumulators_of(folds)
    if not is_signed:
        return found
    return tuple(sign(each) for each in dict.fromkeys((Count(None), *found)))


class PartialGroups(Operator):
    """Fold readings into one row per group, in slice 0: there is no window. Stateless.

    >>> partial = PartialGroups([], [Fold("count", None, None, "n")])
    >>> partial.transition(pa.record_batch({"speed": [20.0, 30.0]})).to_pydict()
    {'slice': [0], 'count(*)': [2]}
    """

    def __init__(self, keys: Sequence[pa.Field], folds: Sequence[Fold], *, is_signed: bool = False) -> None:
        self._keys, self._accumulators = tuple(keys), accumulators_for(folds, is_signed=is_signed)
        self.schema = partial_schema(self._keys, self._accumulators)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Fold the batch."""
        if batch.num_rows == 0:
            return empty(self.schema)
        keys = [batch.column(key.name) for key in self._keys]
        groups = group_rows(keys, batch.num_rows)
        first = pa.array(groups.first)
        heads = [pa.array(np.zeros(groups.count, np.int64)), *(canonical(key.take(first)) for key in keys)]
        return pa.RecordBatch.from_arrays([*heads, *fold_groups(self._accumulators, batch, groups)], schema=self.schema)


class _SignedSlices(PartialAggregate):
    """Fold rows that can be taken back, as readings are."""

    def __init__(self, window: Window, time: str, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        super().__init__(Slices.of([window]), time, keys, folds)
        self._accumulators = accumulators_for(folds, is_signed=True)
        self.schema = partial_schema(tuple(keys), self._accumulators)


class PartialChanges(Operator):
    """Fold rows that come and rows that go, and take the second from the first. Stateless.

    ``keys`` and ``folds`` are those of the aggregate; with a ``window`` rows go by their ``time``.
    """

    def __init__(
        self, keys: Sequence[pa.Field], folds: Sequence[Fold], window: Window | None = None, time: str | None = None
    ) -> None:
        self._fold: Operator = PartialGroups(keys, folds, is_signed=True)
        if window is not None and time is not None:
            self._fold = _SignedSlices(window, time, keys, folds)
        self._accumulators = accumulators_for(folds, is_signed=True)
        self.schema = self._fold.schema

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Fold the batch."""
        if not batch.num_rows:
            return empty(self.schema)
        is_minus = mark_minus(batch)
        rows = batch.select(drop_op(batch.schema).names)
        come, gone = (self._fold.transition(rows.filter(pa.array(marks))) for marks in (~is_minus, is_minus))
        return join([come, self._negate(gone)], self.schema)

    def _negate(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        if not rows.num_rows:
            return rows
        columns = dict(zip(rows.schema.names, rows.columns, strict=True))
        for each in self._accumulators:
            assert isinstance(each, Signed)
            columns[each.name] = each.negate(columns[each.name])
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=self.schema)
