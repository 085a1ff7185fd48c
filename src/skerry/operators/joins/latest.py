"""For each row, the latest of other rows that have its key and are not after it."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.operators.grouping import group_rows
from skerry.operators.joins.keys import joinable

__all__ = ["Timed", "find_latest", "last_of_each_key"]


class Timed:
    """Rows with their keys and times. Of rows with one key and time, the one whose columns sort last counts as later.

    So which of them is the latest does not depend on the order in which they came.
    """

    def __init__(self, rows: pa.RecordBatch, keys: Sequence[pa.Array], times: Int64s) -> None:
        self.rows, self.keys, self.times = rows, list(keys), times

    @property
    def count(self) -> int:
        """How many there are."""
        return self.rows.num_rows

    @property
    def may_meet(self) -> Bools:
        """Those that have a value to compare in all keys."""
        return joinable(self.keys, self.count)

    def order(self, groups: Int64s) -> Int64s:
        """The indices of all rows, by group, then by time, then by all columns."""
        order = np.lexsort((self.times, groups))
        same = (groups[order][1:] == groups[order][:-1]) & (self.times[order][1:] == self.times[order][:-1])
        return np.lexsort((self._rank_all(), self.times, groups)) if same.any() else order

    def _rank_all(self) -> Int64s:
        """Where each row stands among all by its columns, NULL first; lists and the like are not compared."""
        names = [str(number) for number, column in enumerate(self.rows.columns) if not pa.types.is_nested(column.type)]
        table = pa.table([self.rows.column(int(name)) for name in names], names=names)
        last_first = pc.sort_indices(table, [(name, "descending") for name in names])  # and NULL at the end
        ranks = np.empty(self.count, np.int64)
        ranks[last_first.to_numpy()] = np.arange(self.count)[::-1]
        return ranks


def last_of_each_key(others: Timed) -> Int64s:
    """The index of the latest row of each key.

    >>> times = np.array([3, 5, 4])
    >>> rows = pa.record_batch({"k": [1, 1, 2]})
    >>> sorted(last_of_each_key(Timed(rows, rows.columns, times)).tolist())
    [1, 2]
    """
    groups = group_rows(others.keys, others.count).numbers
    order = others.order(groups)
    ends = np.ones(order.size, np.bool_)
    ends[:-1] = groups[order][1:] != groups[order][:-1]
    return order[ends]


def find_latest(rows: Timed, others: Timed, *, strictly: bool = False) -> Int64s:
    """For each row, the index of the latest of the others with its key at or before its time; -1 if there is none.

    Sorts all of them by key and time once. A key with a NULL or a NaN in it has none.

    >>> batch = pa.record_batch({"k": [1, 1, 2]})
    >>> rows, others = (Timed(batch, batch.columns, np.array(times)) for times in ([4, 9, 9], [2, 9, 9]))
    >>> find_latest(rows, others).tolist(), find_latest(rows, others, strictly=True).tolist()
    ([0, 1, 2], [0, 0, -1])
    """
    count = rows.count
    keys = [pa.concat_arrays([mine, its]) for mine, its in zip(rows.keys, others.keys, strict=True)]
    groups = group_rows(keys, count + others.count).numbers
    standing = np.empty(others.count, np.int64)
    standing[others.order(groups[count:])] = np.arange(others.count)
    # At one time, the others come before the row that looks for them, or if they must be strictly before, behind it.
    turn = np.concatenate([np.full(count, -1 if strictly else others.count), standing])
    order = np.lexsort((turn, np.concatenate([rows.times, others.times]), groups))
    is_other = order >= count
    positions = np.maximum.accumulate(np.where(is_other, np.arange(order.size), -1))
    before = order[np.maximum(positions, 0)]
    found = np.where((positions >= 0) & (groups[before] == groups[order]), before - count, -1)
    latest = np.full(count + others.count, -1, np.int64)
    latest[order] = found
    return np.where(rows.may_meet, latest[:count], -1)
