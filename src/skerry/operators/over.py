"""OVER: rows in order of event time, each with what functions find in the rows around it."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import empty
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.window import Window
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import merge_clocks, select_pages, spread_store
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.order_codes import mark_changes, order_keys, order_rows
from skerry.operators.over_clause import OverClause
from skerry.operators.spread import Spread
from skerry.plan.over import Clause, OrderKey

__all__ = ["Over"]


class Over(Operator):
    """Give all rows when the watermark has passed them, with the answers of functions over the rows around them.

    Rows are taken in order of partition, time, the order of the clause, and, where they are equal in these, of their
    columns: so what is given depends neither on the order of arrival nor on batches. With a ``window``, the rows of a
    window are given together when it is over. A row whose time is NULL is in no order, and is left out. Rows behind the
    watermark must not be given to it.

    State is the rows that the watermark has not passed, and per clause and partition the rows that later ones look back
    at, or one accumulator where a function goes by all rows. Costs a sort of the rows that are given per clause, and a
    look at the rows kept of their partitions.

    >>> from skerry.plan.over import Call, Frame
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "speed": pa.int64()})
    >>> last = Call("last", "lag", pa.int64(), "LAG(speed)", Frame(), "speed", columns=("speed",))
    >>> over = Over(schema, "ts", [Clause((), (OrderKey("ts"),), (last,))])
    >>> _ = over.transition(pa.RecordBatch.from_pydict({"ts": [7, 5], "speed": [30, 20]}, schema))
    >>> over.advance(Micros(8)).column("last").to_pylist()
    [None, 20]
    """

    def __init__(
        self,
        schema: pa.Schema,
        time: str,
        clauses: Sequence[Clause],
        window: Window | None = None,
        order: Sequence[OrderKey] = (),
        limit: int | None = None,
        offset: int = 0,
    ) -> None:
        self._time, self._window, self._order = time, window, tuple(order)
        self._limit, self._offset = limit, offset
        self._clauses = [OverClause(schema, time, clause) for clause in clauses if clause.calls]
        fields = [pa.field(call.name, call.type) for clause in clauses for call in clause.calls]
        self.schema = pa.schema([*schema, *fields])
        self._waiting = RowStore(schema)
        self._watermark: Micros = START_OF_TIME
        self._first_end = END_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows in."""
        times = batch.column(self._time)
        if times.null_count:
            batch = batch.filter(times.is_valid())
        if batch.num_rows:
            ends = self._find_ends(batch)
            self._waiting.add(batch, ends)
            self._first_end = min(self._first_end, Micros(int(ends.min())))
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the rows, or the windows, before ``watermark``."""
        if watermark <= self._watermark:
            return empty(self.schema)
        self._watermark = watermark
        is_end = watermark >= END_OF_TIME
        if self._first_end >= watermark and not is_end:
            for clause in self._clauses:
                clause.forget(watermark)
            return empty(self.schema)
        given = self._answer(self._take_passed(watermark), is_end=is_end)
        for clause in self._clauses:
            clause.forget(watermark)
        return given

    def changes(self) -> PageChanges:
        """The rows that came and went, and those that are kept."""
        changes = changes_of([self._waiting], self._watermark)
        put, drop = dict(changes.put), list(changes.drop)
        for number, clause in enumerate(self._clauses):
            kept = clause.kept.changes()
            put |= {f"kept{number}/{name}": blob for name, blob in kept.put.items()}
            drop += [f"kept{number}/{name}" for name in kept.drop]
        return PageChanges(put, drop)

    def snapshot(self) -> StatePages:
        """All rows that wait or are kept."""
        found = dict(snapshot_of([self._waiting], self._watermark))
        for number, clause in enumerate(self._clauses):
            found |= {f"kept{number}/{name}": blob for name, blob in clause.kept.snapshot().items()}
        return found

    def restore(self, pages: StatePages) -> None:
        """Take rows over."""
        watermark = restore_all([self._waiting], {name: pages[name] for name in pages if not name.startswith("kept")})
        if watermark is not None:
            self._watermark = watermark
            self._waiting.forget(watermark)
        for number, clause in enumerate(self._clauses):
            clause.kept.restore(select_pages(pages, f"kept{number}/"))
        _, rows = self._waiting.live_rows()
        self._first_end = Micros(int(self._find_ends(rows).min())) if rows.num_rows else END_OF_TIME

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """Rows that wait and rows that are kept, each in the bucket of its partition."""
        watermark, clock = merge_clocks(states, [0])
        found = [{**part, **clock} for part in spread_store(states, "0/", watermark, spread)]
        for number, clause in enumerate(self._clauses):
            kept = clause.kept.redistribute([select_pages(state, f"kept{number}/") for state in states], spread)
            for pages, part in zip(found, kept, strict=True):
                pages |= {f"kept{number}/{name}": blob for name, blob in part.items()}
        return found

    def _find_ends(self, rows: pa.RecordBatch) -> Int64s:
        """The last moment of each row, or of its window: what the watermark must have passed."""
        times: Int64s = rows.column(self._time).cast(pa.int64()).to_numpy()
        if self._window is None:
            return times
        origin, size = self._window.origin_us, self._window.size_us
        return (times - origin) // size * size + origin + size - 1

    def _take_passed(self, watermark: Micros) -> pa.RecordBatch:
        _, rows = self._waiting.live_rows()
        ends = self._find_ends(rows)
        passed = ends < watermark
        self._waiting.forget(watermark)
        waiting = ends[~passed]
        self._first_end = Micros(int(waiting.min())) if waiting.size else END_OF_TIME
        return rows if passed.all() else rows.filter(pa.array(passed))

    def _answer(self, rows: pa.RecordBatch, *, is_end: bool) -> pa.RecordBatch:
        """Rows and answers, in order of time."""
        columns = []
        for clause in self._clauses:
            if clause.looks_ahead:  # then it is the only one, and says which rows are answered
                rows, found = clause.answer_settled(rows, is_end=is_end)
            else:
                found = clause.answer(rows)
            columns += found
        if not rows.num_rows:
            return empty(self.schema)
        given = pa.RecordBatch.from_arrays([*rows.columns, *columns], schema=self.schema)
        return given.take(pa.array(self._sort(given)))

    def _sort(self, rows: pa.RecordBatch) -> Int64s:
        """By time, or by window and the order asked for; of each window the rows that are asked for."""
        times = self._find_ends(rows)
        if not self._order and self._limit is None and not self._offset:
            return np.argsort(times, kind="stable")
        keys = [times, *order_keys(rows, self._order)]
        order = order_rows(np.zeros(rows.num_rows, np.int64), 1, keys, rows)
        begins = np.maximum.accumulate(np.where(mark_changes([times], order), np.arange(order.size), 0))
        position = np.arange(order.size) - begins
        last = order.size if self._limit is None else self._offset + self._limit
        return order[(position >= self._offset) & (position < last)]
