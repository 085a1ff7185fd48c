"""What becomes of the rows of a relation when some of them are revised."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import join
from skerry.model.changes import with_op
from skerry.operators.grouping import group_rows
from skerry.operators.signed_accumulators import exact_keys

__all__ = ["revise"]


def revise(before: pa.RecordBatch, after: pa.RecordBatch, identity: Sequence[str]) -> pa.RecordBatch:
    """Take rows back that are not there any more, and give those that are new; what stays as it was is not given.

    Rows of one identity are one row, as it was and as it is; it is there once before and once after at most. They are
    given in order of identity, the old one before the new one. A list is never taken for what it was.

    >>> old, new = (pa.record_batch({"k": [1, 2], "n": n}) for n in ([5, 6], [5, 7]))
    >>> revise(old, new, ["k"]).to_pydict()
    {'_op': ['-', '+'], 'k': [2, 2], 'n': [6, 7]}
    """
    both = join([before, after], before.schema)
    groups = group_rows([both.column(name) for name in identity], both.num_rows)
    numbers = _rank(both, groups.first, identity)[groups.numbers]
    old, new = numbers[: before.num_rows], numbers[before.num_rows :]
    was, now = np.full(groups.count, -1), np.full(groups.count, -1)
    was[old], now[new] = np.arange(old.size), np.arange(old.size, numbers.size)
    paired = np.flatnonzero((was >= 0) & (now >= 0))
    rest = [name for name in both.schema.names if name not in identity]
    same = _mark_same(both, was[paired], now[paired], rest)
    was[paired[same]] = now[paired[same]] = -1
    chosen = np.column_stack([was, now]).reshape(-1)
    is_minus = np.tile([True, False], groups.count)[chosen >= 0]
    return with_op(both.take(pa.array(chosen[chosen >= 0])), is_minus)


def _rank(rows: pa.RecordBatch, first: Int64s, identity: Sequence[str]) -> Int64s:
    """By group, its place in the order of identities."""
    ranks = np.zeros(first.size, np.int64)
    if identity and first.size > 1:
        heads = rows.select(list(identity)).take(pa.array(first))
        order = pc.sort_indices(heads, [(name, "ascending") for name in identity])
        ranks[order.to_numpy()] = np.arange(first.size)
    return ranks


def _mark_same(rows: pa.RecordBatch, was: Int64s, now: Int64s, names: Sequence[str]) -> Bools:
    """Which pairs of rows are equal to the last bit."""
    same = np.ones(was.size, np.bool_)
    both, count = pa.array(np.concatenate([was, now])), was.size
    for name in names if count else ():
        column = rows.column(name)
        if pa.types.is_nested(column.type):
            return np.zeros(count, np.bool_)
        numbers = group_rows(exact_keys(column.take(both)), 2 * count).numbers
        same &= numbers[:count] == numbers[count:]
    return same
