"""Answers from all rows of a group: one statement of DuckDB for all groups that end at once."""

import duckdb
import numpy as np
import pyarrow as pa

from skerry.model.batch import as_batch
from skerry.model.duckdb_session import register_batch
from skerry.plan.fold import Fold

__all__ = ["finish_rows"]

_AT_ONCE = 4_000_000
"""So many rows go into one statement, or those of one group."""


def finish_rows(fold: Fold, lists: pa.Array) -> pa.Array:
    """The answer of each group; NULL of one without rows, and where DuckDB finds the values wrong.

    >>> fold = Fold("median", "x", pa.int64(), "m", text="median(c0)", answer=pa.float64())
    >>> rows = pa.array([[{"c0": 1}, {"c0": 2}], []], pa.list_(pa.struct({"c0": pa.int64()})))
    >>> finish_rows(fold, rows).to_pylist()
    [1.5, None]
    """
    ends = np.cumsum(np.diff(lists.offsets.to_numpy()))
    parts, start = [], 0
    while start < len(lists):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _AT_ONCE, side="right")))
        parts.append(_finish(fold, lists.slice(start, stop - start)))
        start = stop
    return pa.concat_arrays(parts) if parts else pa.nulls(0, fold.type)


def _finish(fold: Fold, lists: pa.Array) -> pa.Array:
    try:
        return _run(fold, lists)
    except duckdb.DataError:
        if len(lists) == 1:
            return pa.nulls(1, fold.type)
        middle = len(lists) // 2
        return pa.concat_arrays([_finish(fold, half) for half in (lists.slice(0, middle), lists.slice(middle))])


def _run(fold: Fold, lists: pa.Array) -> pa.Array:
    """Each group by its number; those without rows do not come back."""
    rows = lists.flatten()
    names = ["number", *(field.name for field in rows.type)]
    batch = pa.RecordBatch.from_arrays([lists.value_parent_indices(), *rows.flatten()], names)
    with register_batch(batch) as connection:
        sql = f"SELECT number, {fold.text} AS answer FROM batch GROUP BY number"
        found = as_batch(connection.sql(sql).to_arrow_table())
    where = np.full(len(lists), -1)
    where[found.column("number").to_numpy()] = np.arange(found.num_rows)
    return found.column("answer").cast(fold.type).take(pa.array(where, mask=where < 0))
