"""Each row of one stream beside the latest of another (``ASOF JOIN``)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.joins.keys import joinable, key_codes
from skerry.operators.joins.latest import Timed, find_latest, last_of_each_key
from skerry.operators.joins.latest_rows import LatestRows
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import spread_stores
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["Asof"]

_SLACK_ROWS = 1024
"""So many rows that are not the latest any more may be held beside as many as there are of the others."""


class Asof(Operator):
    """Give each row of the first side with the latest of the second that has its key and is not after it.

    A row is settled when the watermark has passed its time: nothing at or before it can come any more. So the answer
    does not depend on the order of arrival. Of rows with one key and time, the one whose columns sort last is the
    latest. The span of the second side bounds how old the latest may be. A row that finds none is left out or, if
    ``kept``, given with NULLs.

    State is the rows that the watermark has not passed, and of those that it has, the latest of each key, until they
    are too old. A step costs a sort of the rows that it settles, of those that the watermark passes, and of the latest
    with the keys of both; and a copy of one number per key.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> asof = Asof([Side("a", schema, ("k",), "ts", 0), Side("b", schema, ("k",), "ts", END_OF_TIME)])
    >>> for stream, times in enumerate([[5], [3, 4, 6]]):
    ...     rows = pa.RecordBatch.from_pydict({"k": [1] * len(times), "ts": times}, schema)
    ...     nothing = asof.transition(rows, stream)
    >>> asof.advance(Micros(6)).column("b.ts").cast(pa.int64()).to_pylist()
    [4]
    """

    def __init__(self, sides: Sequence[Side], *, kept: bool = False, strictly: bool = False) -> None:
        self._first, self._second = sides
        self._kept, self._strictly = kept, strictly
        self.schema = pa.schema([field for side in sides for field in side.fields])
        self._rows, self._others = RowStore(self._first.schema), RowStore(self._second.schema)
        self._latest = LatestRows()
        self._fresh = (np.empty(0, np.int64), np.empty(0, np.int64))
        """Numbers and times of rows of the second side that the watermark has not passed."""
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if batch.num_rows and stream == 0:
            self._rows.add(batch, self._first.moments(batch)[0])
        elif batch.num_rows:
            may_meet = joinable([batch.column(key) for key in self._second.keys], batch.num_rows)
            starts, ends = self._second.moments(batch)
            number = self._others.add(batch, ends, may_meet)
            numbers = np.arange(number, number + batch.num_rows)[may_meet]
            self._fresh = tuple(map(np.append, self._fresh, (numbers, starts[may_meet])))  # type: ignore[assignment]
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the rows that are settled by now, each with the latest of the other side."""
        if watermark <= self._watermark:
            return empty(self.schema)
        self._watermark = watermark
        _, rows = self._rows.live_rows()
        settled = self._timed(rows.filter(pa.array(self._first.moments(rows)[0] < watermark)), self._first)
        numbers, others = self._find_candidates(settled)
        answers = self._answer(settled, others)
        self._note_latest(numbers, others)
        self._forget()
        return answers

    def changes(self) -> PageChanges:
        """The new chunks of both sides, and those no longer needed."""
        return changes_of([self._rows, self._others], self._watermark)

    def snapshot(self) -> StatePages:
        """The chunks of both sides."""
        return snapshot_of([self._rows, self._others], self._watermark)

    def restore(self, pages: StatePages) -> None:
        """Take chunks over, and find the latest of each key."""
        watermark = restore_all([self._rows, self._others], pages)
        if watermark is None:
            return
        self._watermark = watermark
        for store in (self._rows, self._others):
            store.forget(watermark)
        numbers, rows = self._others.live_rows()
        starts, _ = self._second.moments(rows)
        fresh = starts >= watermark
        self._fresh = numbers[fresh], starts[fresh]
        passed = self._timed(rows.filter(pa.array(~fresh)), self._second)
        self._note_latest(numbers[~fresh], passed)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All rows by the bucket of their keys."""
        return spread_stores(states, spread)

    def _timed(self, rows: pa.RecordBatch, side: Side) -> Timed:
        return Timed(rows, [rows.column(key) for key in side.keys], side.moments(rows)[0])

    def _codes(self, rows: Timed) -> Int64s:
        return key_codes(rows.keys, rows.count)[0]

    def _find_candidates(self, settled: Timed) -> tuple[Int64s, Timed]:
        """The rows of the second side that the watermark has just passed, and the latest before with keys of theirs."""
        numbers, times = self._fresh
        passed = times < self._watermark
        self._fresh = numbers[~passed], times[~passed]
        fresh = self._timed(self._others.take(numbers[passed]), self._second)
        known = self._latest.find(np.concatenate([self._codes(settled), self._codes(fresh)]))
        rows = join([self._others.take(known), fresh.rows], self._second.schema)
        return np.concatenate([known, numbers[passed]]), self._timed(rows, self._second)

    def _answer(self, settled: Timed, others: Timed) -> pa.RecordBatch:
        """Rows beside what was found for them."""
        found = find_latest(settled, others, strictly=self._strictly)
        span = self._second.span_us
        if span is not None and span < END_OF_TIME and others.count:
            found = np.where(settled.times - others.times[found] <= span, found, -1)
        has_one = found >= 0
        if not self._kept:
            settled_rows, found = settled.rows.filter(pa.array(has_one)), found[has_one]
        else:
            settled_rows = settled.rows
        beside = others.rows.take(pa.array(found, mask=found < 0))
        return pa.RecordBatch.from_arrays([*settled_rows.columns, *beside.columns], schema=self.schema)

    def _note_latest(self, numbers: Int64s, others: Timed) -> None:
        """Of the rows that the watermark has passed, keep the latest of each key."""
        last = last_of_each_key(others)
        self._latest.replace(numbers, self._codes(others)[last], numbers[last])

    def _forget(self) -> None:
        """Let go of what is settled, too old, or not the latest any more."""
        self._rows.forget(self._watermark)
        self._others.forget(self._watermark)
        if self._second.span_us is None or self._second.span_us < END_OF_TIME or self._watermark == END_OF_TIME:
            self._forget_old()
        live = self._latest.numbers.size + self._fresh[0].size
        if self._others.count > 2 * live + _SLACK_ROWS:
            self._others.keep(np.concatenate([self._latest.numbers, self._fresh[0]]))

    def _forget_old(self) -> None:
        alive, _ = self._others.live_rows()
        self._latest.keep(np.isin(self._latest.numbers, alive))
