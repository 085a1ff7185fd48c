"""Two streams that are equal in time, merged as they flow past: the join that the Fjords paper calls zippering."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.joins.keys import equal_keys, key_codes
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.plan.side import Side

__all__ = ["Zipper"]


class Zipper(Operator):
    """Give every pair of rows, one of each side, that have the same time and the same keys.

    Rows wait until the watermark has passed their time. Then those of both sides are put in order of time and keys, and
    one pass over the two finds all pairs. So streams need not be in step: how far one may be ahead of the other is how
    long its rows wait. Spans of the sides do not count.

    State is the rows that the watermark has not passed. A step costs a sort of those that it passes.

    Madden, Franklin: Fjording the Stream, 2001, section 4.3, footnote 1.

    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> zipper = Zipper([Side(name, schema, ("k",), "ts", 0) for name in "ab"])
    >>> for stream, times in enumerate([[3, 5], [5, 5, 7]]):
    ...     rows = pa.RecordBatch.from_pydict({"ts": times, "k": [1] * len(times)}, schema)
    ...     nothing = zipper.transition(rows, stream)
    >>> zipper.advance(Micros(6)).column("b.ts").cast(pa.int64()).to_pylist()
    [5, 5]
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self._sides = tuple(sides)
        self.schema = pa.schema([field for side in sides for field in side.fields])
        self._stores = [RowStore(side.schema) for side in sides]
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Let rows of one side wait."""
        if batch.num_rows:
            self._stores[stream].add(batch, self._sides[stream].moments(batch)[0])
        return super().advance(self._watermark)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Merge the rows whose time has passed."""
        self._watermark = max(watermark, self._watermark)
        first, second = (self._take_passed(number) for number in (0, 1))
        lefts, rights = self._merge(first, second)
        found = [*first.take(pa.array(lefts)).columns, *second.take(pa.array(rights)).columns]
        return pa.RecordBatch.from_arrays(found, schema=self.schema)

    def changes(self) -> PageChanges:
        """The new chunks of both sides, and those no longer needed."""
        return changes_of(self._stores, self._watermark)

    def snapshot(self) -> StatePages:
        """The chunks of both sides."""
        return snapshot_of(self._stores, self._watermark)

    def restore(self, pages: StatePages) -> None:
        """Take chunks over."""
        watermark = restore_all(self._stores, pages)
        if watermark is not None:
            self._watermark = watermark
            for store in self._stores:
                store.forget(watermark)

    def _take_passed(self, stream: int) -> pa.RecordBatch:
        """The rows of a side whose time the watermark has passed; they wait no longer."""
        store = self._stores[stream]
        _, rows = store.live_rows()
        passed = self._sides[stream].moments(rows)[0] < self._watermark
        store.forget(self._watermark)
        return rows.filter(pa.array(passed))

    def _merge(self, first: pa.RecordBatch, second: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """Rows of both, pair by pair."""
        times = np.concatenate([side.moments(rows)[0] for side, rows in zip(self._sides, (first, second), strict=True)])
        keys = [
            pa.RecordBatch.from_arrays([rows.column(key) for key in side.keys], side.keys)
            for side, rows in zip(self._sides, (first, second), strict=True)
        ]
        codes, may_join = zip(*(key_codes(each.columns, each.num_rows) for each in keys), strict=True)
        ranks = _rank(times, np.concatenate(codes))
        left, right = ranks[: first.num_rows], ranks[first.num_rows :]
        order = np.argsort(right, kind="stable")
        begins, ends = (np.searchsorted(right[order], left, side=side) for side in ("left", "right"))
        counts = ends - begins
        lefts = np.repeat(np.arange(left.size), counts)
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        rights = order[np.repeat(begins, counts) + steps]
        pairs = [each.take(pa.array(rows)) for each, rows in zip(keys, (lefts, rights), strict=True)]
        equal = may_join[0][lefts] & may_join[1][rights] & equal_keys(pairs[0], pairs[1])
        return lefts[equal], rights[equal]


def _rank(times: Int64s, codes: Int64s) -> Int64s:
    """Numbers that are equal where time and code are, in order of both."""
    order = np.lexsort((codes, times))
    is_new = np.ones(order.size, np.bool_)
    is_new[1:] = (np.diff(times[order]) != 0) | (codes[order][1:] != codes[order][:-1])
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.cumsum(is_new)
    return ranks
