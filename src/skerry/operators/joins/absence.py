"""Readings without a partner in another stream (``NOT EXISTS``)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.time import LAST_MOMENT, START_OF_TIME, Micros
from skerry.operators.grouping import group_rows
from skerry.operators.joins.keys import joinable
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import spread_stores
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["Absence"]


class Absence(Operator):
    """Give the rows of the first side that a join with the second would find no partner for.

    A row is settled when the watermark has passed the end of its window: until then a partner may come. A key with a
    NULL or a NaN in it has no partner. State is the rows of the first side that are not settled, and those of the
    second that one of them, or one to come, may meet. Costs a sort of the rows of the second side that the rows
    settled in a step may meet.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> seen, paid = Side("seen", schema, ("k",), "ts", 0), Side("paid", schema, ("k",), "ts", 5)
    >>> absence = Absence([seen, paid], ["k"])
    >>> for stream, rows in enumerate([{"k": [1, 2], "ts": [9, 9]}, {"k": [1, 2], "ts": [4, 3]}]):
    ...     nothing = absence.transition(pa.RecordBatch.from_pydict(rows, schema), stream)
    >>> absence.advance(Micros(10)).to_pydict()
    {'k': [2]}
    """

    def __init__(self, sides: Sequence[Side], columns: Sequence[str]) -> None:
        self._sides, self._columns = tuple(sides), list(columns)
        self.schema = pa.schema([sides[0].schema.field(name) for name in columns])
        self._stores = [RowStore(side.schema) for side in sides]
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if batch.num_rows:
            _, ends = self._sides[stream].moments(batch)
            kept = None
            if stream:
                kept = self._joinable(batch, stream)
                ends = np.minimum(ends + self._span(0), LAST_MOMENT)
            self._stores[stream].add(batch, ends, kept)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the rows that are settled by now."""
        if watermark <= self._watermark:
            return empty(self.schema)
        self._watermark = watermark
        _, rows = self._stores[0].live_rows()
        _, ends = self._sides[0].moments(rows)
        settled = rows.filter(pa.array(ends < watermark))
        answers = settled.filter(pa.array(~self._has_partner(settled))) if settled.num_rows else settled
        self._forget()
        return answers.select(self._columns)

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
            self._forget()  # what was settled may be among the rows of a chunk still

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All rows by the bucket of their keys."""
        return spread_stores(states, spread)

    def _forget(self) -> None:
        for store in self._stores:
            store.forget(self._watermark)

    def _has_partner(self, settled: pa.RecordBatch) -> Bools:
        """Which rows have a partner.

        Rows of both sides are numbered by key and time, and those numbers sorted: a row has a partner if one lies
        between the two ends of its span.
        """
        _, others = self._stores[1].live_rows()
        starts, ends = self._sides[0].moments(settled)
        since = np.maximum(starts, START_OF_TIME + self._span(1)) - self._span(1)
        moments, _ = self._sides[1].moments(others)
        near = (moments >= since.min()) & (moments <= ends.max())
        others, moments = others.filter(pa.array(near)), moments[near]
        count = settled.num_rows
        keys = group_rows(
            [
                pa.concat_arrays([settled.column(mine), others.column(its)])
                for mine, its in zip(self._sides[0].keys, self._sides[1].keys, strict=True)
            ],
            count + others.num_rows,
        ).numbers
        ranks, times = _rank([since, ends, moments])
        first, last, positions = (
            codes * times + rank for codes, rank in zip((keys[:count], keys[:count], keys[count:]), ranks, strict=True)
        )
        positions.sort()
        has_partner = np.searchsorted(positions, last, side="right") > np.searchsorted(positions, first)
        return has_partner & self._joinable(settled, 0)

    def _joinable(self, batch: pa.RecordBatch, stream: int) -> Bools:
        return joinable([batch.column(key) for key in self._sides[stream].keys], batch.num_rows)

    def _span(self, stream: int) -> int:
        span = self._sides[stream].span_us
        assert span is not None, "rows that are counted are never settled"
        return min(span, LAST_MOMENT)


def _rank(moments: Sequence[Int64s]) -> tuple[list[Int64s], int]:
    """Times as their ranks among all of them, which are small, and how many there are."""
    known, ranks = np.unique(np.concatenate(moments), return_inverse=True)
    return np.split(ranks, np.cumsum([each.size for each in moments])[:-1]), known.size
