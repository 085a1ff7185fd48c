"""The order of rows: by any columns, as SQL orders their values, and of equal rows one that no arrival can change."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.over import order_by_group
from skerry.model.arrays import Bools, Int64s
from skerry.model.duckdb_session import query_batch
from skerry.operators.grouping import integers
from skerry.plan.over import OrderKey

__all__ = ["mark_changes", "order_codes", "order_keys", "order_rows"]


def order_codes(column: pa.Array) -> Int64s:
    """Numbers that are ordered as the values are; that of NULL means nothing. NaN is greater than every number.

    >>> order_codes(pa.array([1.5, float("nan"), -2.0])).argsort().tolist()
    [2, 0, 1]
    """
    codes = integers(column)
    if codes is None:
        return _rank(column)
    return np.where(codes < 0, codes ^ 0x7FFFFFFFFFFFFFFF, codes) if pa.types.is_floating(column.type) else codes


def _rank(column: pa.Array) -> Int64s:
    """By Arrow's order of texts, dates and decimals; by DuckDB's for what Arrow does not order."""
    try:
        return pc.rank(column, tiebreaker="dense").to_numpy().astype(np.int64)
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        ranked = query_batch(
            "SELECT rank FROM (SELECT n, dense_rank() OVER (ORDER BY c) AS rank FROM unit) ORDER BY n",
            pa.RecordBatch.from_arrays([column, pa.array(np.arange(len(column)))], names=["c", "n"]),
        )
        return ranked.column(0).to_numpy()


def order_keys(rows: pa.RecordBatch, order: Sequence[OrderKey]) -> list[Int64s]:
    """Columns to sort by, ascending, the most important first."""
    found: list[Int64s] = []
    for key in order:
        column = rows.column(key.column)
        codes = order_codes(column)
        codes = ~codes if key.descending else codes
        if column.null_count:
            missing = column.is_null().to_numpy(zero_copy_only=False)
            found.append(np.where(missing, 0, 1) if key.nulls_first else np.where(missing, 1, 0))
            codes = np.where(missing, 0, codes)
        found.append(codes)
    return found


def order_rows(numbers: Int64s, count: int, keys: Sequence[Int64s], rows: pa.RecordBatch) -> Int64s:
    """The indices of rows by group and keys, and of those that are equal in them by all columns.

    ``numbers`` are the groups of rows, ``count`` of them.
    """
    order = np.lexsort(list(reversed(keys))) if keys else np.arange(numbers.size)
    order = order[order_by_group(numbers[order], count)] if count > 1 else order
    return _order_ties(order, mark_changes([numbers, *keys], order), rows)


def mark_changes(keys: Sequence[Int64s], order: Int64s) -> Bools:
    """Which rows, in that order, differ in a key from the one before."""
    marks = np.zeros(order.size, np.bool_)
    for values in keys:
        sorted_values = values[order]
        marks[1:] |= sorted_values[1:] != sorted_values[:-1]
    marks[:1] = True
    return marks


def _order_ties(order: Int64s, marks: Bools, rows: pa.RecordBatch) -> Int64s:
    """Sort runs of peers by all columns; a column that is not a number by its rank among them."""
    is_tied: Bools = ~marks
    is_tied[:-1] |= ~marks[1:]
    tied = np.flatnonzero(is_tied)
    if not tied.size:
        return order
    among = rows.take(pa.array(order[tied]))
    keys: list[Int64s] = [np.cumsum(marks, dtype=np.int64)[tied]]
    for name in among.schema.names:
        keys += order_keys(among, [OrderKey(name)])
        column = among.column(name)
        if pa.types.is_floating(column.type):  # -0.0 equals 0.0, and yet differs
            keys.append(np.signbit(column.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.int64))
    order = order.copy()
    order[tied] = order[tied][np.lexsort(list(reversed(keys)))]
    return order
