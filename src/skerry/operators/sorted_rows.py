"""Rows sorted by partition and order, and the frames in them."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from skerry.kernels.over import find_range_bounds, order_by_group
from skerry.model.arrays import Bools, Int64s
from skerry.operators.grouping import group_rows
from skerry.operators.order_codes import mark_changes, order_keys, order_rows
from skerry.plan.over import Frame, OrderKey

__all__ = ["SortedRows"]


class SortedRows:
    """Rows by partition: in each those that were kept, as they stand, then the fresh ones, sorted.

    ``order`` gives the index of each sorted row among the rows as they came, the kept ones first. Costs a sort.
    """

    def __init__(
        self, kept: pa.RecordBatch, fresh: pa.RecordBatch, partition: Sequence[str], order: Sequence[OrderKey]
    ) -> None:
        names = fresh.schema.names if not kept.num_rows else kept.schema.names
        self.rows = pa.concat_batches([kept, fresh.select(names)]) if kept.num_rows else fresh
        groups = group_rows([self.rows.column(name) for name in partition], self.rows.num_rows)
        self.count, kept_count = groups.count, kept.num_rows
        keys = order_keys(self.rows, order)
        sorted_fresh = order_rows(groups.numbers[kept_count:], groups.count, [key[kept_count:] for key in keys], fresh)
        together = np.concatenate([np.arange(kept_count), sorted_fresh + kept_count]) if kept_count else sorted_fresh
        again = order_by_group(groups.numbers[together], groups.count) if kept_count else slice(None)
        self.order: Int64s = together[again]
        self._marks = mark_changes([groups.numbers, *keys], self.order)
        self.numbers = groups.numbers[self.order]
        self.is_fresh: Bools = self.order >= kept_count
        self.due: Int64s = np.flatnonzero(self.is_fresh)
        """The rows that answers are asked for: the fresh ones, if nothing else is said."""
        self._order = tuple(order)
        self._taken: dict[str, pa.Array] = {}

    @property
    def size(self) -> int:
        """How many rows there are."""
        return int(self.order.size)

    def column(self, name: str) -> pa.Array:
        """A column, sorted."""
        if name not in self._taken:
            self._taken[name] = self.rows.column(name).take(pa.array(self.order))
        return self._taken[name]

    @cached_property
    def first_rows(self) -> Int64s:
        """The first row of each partition, in the order in which partitions lie."""
        return np.flatnonzero(np.diff(self.numbers, prepend=-1))

    @cached_property
    def last_rows(self) -> Int64s:
        """The last row of each partition."""
        return np.append(self.first_rows[1:], self.size) - 1 if self.size else self.first_rows

    @cached_property
    def _ordinals(self) -> Int64s:
        """By row, which of the partitions it is in."""
        return np.repeat(np.arange(self.first_rows.size), self.last_rows - self.first_rows + 1)

    @cached_property
    def positions(self) -> Int64s:
        """By row, its own index."""
        return np.arange(self.size)

    @cached_property
    def starts(self) -> Int64s:
        """By row, where its partition begins."""
        return self.first_rows[self._ordinals]

    @cached_property
    def stops(self) -> Int64s:
        """By row, where its partition ends."""
        return self.last_rows[self._ordinals] + 1

    @cached_property
    def fresh_starts(self) -> Int64s:
        """By row, where the fresh rows of its partition begin."""
        kept = np.add.reduceat(~self.is_fresh, self.first_rows) if self.size else self.first_rows
        return self.starts + kept[self._ordinals]

    @cached_property
    def peer_starts(self) -> Int64s:
        """By row, the first that is equal to it in the order."""
        return np.maximum.accumulate(np.where(self._marks, self.positions, 0))

    @cached_property
    def peer_stops(self) -> Int64s:
        """By row, the one behind the last that is equal to it in the order."""
        begins = np.flatnonzero(self._marks)
        return np.append(begins[1:], self.size)[np.cumsum(self._marks) - 1]

    @cached_property
    def peer_numbers(self) -> Int64s:
        """By row, how many runs of peers there are up to its own, from the first row of all."""
        return np.cumsum(self._marks)

    def bounds(self, frame: Frame, *, runs_on: bool = False) -> tuple[Int64s, Int64s]:
        """The frame of each row. If it runs on from what was kept, an unbounded one begins with the fresh rows."""
        unbounded = self.fresh_starts if runs_on else self.starts
        if frame.by_rows:
            low = unbounded if frame.start is None else np.clip(self.positions + frame.start, self.starts, self.stops)
            high = self.stops if frame.end is None else np.clip(self.positions + frame.end + 1, self.starts, self.stops)
        else:
            low = unbounded if frame.start is None else self._find_range(frame.start, is_end=False)
            high = self.stops if frame.end is None else self._find_range(frame.end, is_end=True)
        return low, np.maximum(low, high)

    def _find_range(self, offset: int, *, is_end: bool) -> Int64s:
        if offset == 0:
            return self.peer_stops if is_end else self.peer_starts
        times = self.column(self._order[0].column).cast(pa.int64()).to_numpy()
        return find_range_bounds(times, self.starts, self.stops, offset, is_end=is_end)
