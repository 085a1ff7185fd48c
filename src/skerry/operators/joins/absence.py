"""Readings without a partner in another stream (``NOT EXISTS``), with one (``EXISTS``, ``IN``), and ``NOT IN``."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.expression import Expression
from skerry.model.time import LAST_MOMENT, START_OF_TIME, Micros
from skerry.operators.derive import Derive
from skerry.operators.grouping import group_rows
from skerry.operators.joins.keys import joinable
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import spread_stores
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["Absence", "NotIn", "Presence"]

_MOST_PAIRS = 1_000_000
"""How many pairs are compared at once."""


class Absence(Operator):
    """Give the rows of the first side that a join with the second would find no partner for.

    ``condition`` is what partners must agree on beside their keys, over the columns of both, behind their sides' names.
    A row is settled when the watermark has passed the end of its window: until then a partner may come. A key with a
    NULL or a NaN in it has no partner. State is the rows of the first side that are not settled, and those of the
    second that one of them, or one to come, may meet. Costs a sort of the rows of the second side that the rows
    settled in a step may meet; with a condition, a look at each pair of them.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> seen, paid = Side("seen", schema, ("k",), "ts", 0), Side("paid", schema, ("k",), "ts", 5)
    >>> absence = Absence([seen, paid], ["k"])
    >>> for stream, rows in enumerate([{"k": [1, 2], "ts": [9, 9]}, {"k": [1, 2], "ts": [4, 3]}]):
    ...     nothing = absence.transition(pa.RecordBatch.from_pydict(rows, schema), stream)
    >>> absence.advance(Micros(10)).to_pydict()
    {'k': [2]}
    """

    def __init__(self, sides: Sequence[Side], columns: Sequence[str], condition: Expression | None = None) -> None:
        self._sides, self._columns = tuple(sides), list(columns)
        self._condition = Derive([("holds", condition)]) if condition else None
        self.schema = pa.schema([sides[0].schema.field(name) for name in columns])
        self._stores = [RowStore(side.schema) for side in sides]
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if batch.num_rows:
            _, ends = self._sides[stream].moments(batch)
            kept = None
            if stream:
                kept = self._joinable(batch, stream, self._sides[stream].keys[: self._compared])
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
        answers = settled.filter(pa.array(self._choose(settled))) if settled.num_rows else settled
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

    @property
    def _compared(self) -> int:
        """How many keys a row of the second side must have a value in to be of interest."""
        return len(self._sides[0].keys)

    def _choose(self, settled: pa.RecordBatch) -> Bools:
        """Which of the settled rows are given."""
        return ~self._has_partner(settled, self._list_others(settled), len(self._sides[0].keys))

    def _list_others(self, settled: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the second side that one of some rows may meet."""
        _, others = self._stores[1].live_rows()
        since, ends = self._find_spans(settled)
        moments, _ = self._sides[1].moments(others)
        return others.filter(pa.array((moments >= since.min()) & (moments <= ends.max())))

    def _find_spans(self, settled: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """The first and the last moment at which a partner may be."""
        starts, ends = self._sides[0].moments(settled)
        return np.maximum(starts, START_OF_TIME + self._span(1)) - self._span(1), ends

    def _has_partner(self, settled: pa.RecordBatch, others: pa.RecordBatch, key_count: int) -> Bools:
        """Which rows have a partner among others, by their first keys.

        Rows of both sides are numbered by key and time, and those numbers sorted: a row has a partner if one lies
        between the two ends of its span.
        """
        mine, its = (side.keys[:key_count] for side in self._sides)
        count = settled.num_rows
        columns = [
            pa.concat_arrays([settled.column(key), others.column(other)]) for key, other in zip(mine, its, strict=True)
        ]
        total = count + others.num_rows
        keys = group_rows(columns, total).numbers if columns else np.zeros(total, np.int64)
        moments, _ = self._sides[1].moments(others)
        ranks, times = _rank([*self._find_spans(settled), moments])
        first, last, positions = (
            codes * times + rank for codes, rank in zip((keys[:count], keys[:count], keys[count:]), ranks, strict=True)
        )
        order = np.argsort(positions, kind="stable")
        begin, end = np.searchsorted(positions[order], first), np.searchsorted(positions[order], last, side="right")
        counts = np.where(self._joinable(settled, 0, mine), end - begin, 0)
        if self._condition is None:
            return counts > 0
        return self._find_agreeing(settled, others.take(pa.array(order)), begin, counts)

    def _find_agreeing(self, settled: pa.RecordBatch, others: pa.RecordBatch, begin: Int64s, counts: Int64s) -> Bools:
        """Which rows have a partner with which the condition holds; pairs are looked at some at a time."""
        assert self._condition is not None
        found = np.zeros(settled.num_rows, np.bool_)
        row, ends = 0, np.cumsum(counts)
        while row < settled.num_rows:
            reach = int(np.searchsorted(ends, (ends[row - 1] if row else 0) + _MOST_PAIRS, side="right"))
            upto = max(reach, row + 1)
            part = counts[row:upto]
            mine = np.repeat(np.arange(row, upto), part)
            within = np.arange(mine.size) - np.repeat(np.cumsum(part) - part, part)
            its = np.repeat(begin[row:upto], part) + within
            holds = self._condition.transition(self._pair(settled.take(pa.array(mine)), others.take(pa.array(its))))
            found[mine[holds.column(0).fill_null(False).to_numpy(zero_copy_only=False)]] = True
            row = upto
        return found

    def _pair(self, mine: pa.RecordBatch, its: pa.RecordBatch) -> pa.RecordBatch:
        names = [f"{side.name}.{name}" for side in self._sides for name in side.schema.names]
        return pa.RecordBatch.from_arrays([*mine.columns, *its.columns], names)

    def _joinable(self, batch: pa.RecordBatch, stream: int, keys: Sequence[str]) -> Bools:
        return joinable([batch.column(key) for key in keys], batch.num_rows)

    def _span(self, stream: int) -> int:
        span = self._sides[stream].span_us
        assert span is not None, "rows that are counted are never settled"
        return min(span, LAST_MOMENT)


class Presence(Absence):
    """Give the rows of the first side that a join with the second would find a partner for, each once.

    As with an absence, a row is given when it is settled: so it does not depend on who came first.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> seen, paid = Side("seen", schema, ("k",), "ts", 0), Side("paid", schema, ("k",), "ts", 5)
    >>> presence = Presence([seen, paid], ["k"])
    >>> for stream, rows in enumerate([{"k": [1, 2], "ts": [9, 9]}, {"k": [1, 2], "ts": [4, 3]}]):
    ...     nothing = presence.transition(pa.RecordBatch.from_pydict(rows, schema), stream)
    >>> presence.advance(Micros(10)).to_pydict()
    {'k': [1]}
    """

    def _choose(self, settled: pa.RecordBatch) -> Bools:
        return self._has_partner(settled, self._list_others(settled), len(self._sides[0].keys))


class NotIn(Absence):
    """Give the rows of the first side whose last key is known to differ from that of all rows they meet.

    The keys before it say whom a row meets. Where a row meets a NULL, or is NULL itself and meets anybody, that it
    differs is not known: it is not given, as SQL has it.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> seen, paid = Side("seen", schema, ("k",), "ts", 0), Side("paid", schema, ("k",), "ts", 5)
    >>> not_in = NotIn([seen, paid], ["k"])
    >>> for stream, rows in enumerate([{"k": [1, 2, None], "ts": [9, 9, 9]}, {"k": [1, 3], "ts": [9, 9]}]):
    ...     nothing = not_in.transition(pa.RecordBatch.from_pydict(rows, schema), stream)
    >>> not_in.advance(Micros(10)).to_pydict()
    {'k': [2]}
    """

    @property
    def _compared(self) -> int:
        return len(self._sides[0].keys) - 1

    def _choose(self, settled: pa.RecordBatch) -> Bools:
        others, count = self._list_others(settled), len(self._sides[0].keys)
        value, other = (side.keys[-1] for side in self._sides)
        unknown = others.filter(others.column(other).is_null())
        is_null = settled.column(value).is_null().to_numpy(zero_copy_only=False)
        differs = ~self._has_partner(settled, others, count) & ~self._has_partner(settled, unknown, count - 1)
        if is_null.any():
            differs &= ~(is_null & self._has_partner(settled, others, count - 1))
        return differs


def _rank(moments: Sequence[Int64s]) -> tuple[list[Int64s], int]:
    """Times as their ranks among all of them, which are small, and how many there are."""
    known, ranks = np.unique(np.concatenate(moments), return_inverse=True)
    return np.split(ranks, np.cumsum([each.size for each in moments])[:-1]), known.size
