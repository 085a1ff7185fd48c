"""The first rows of a relation in some order, kept current."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import LimitError
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.changes import OP_FIELD, drop_op, mark_minus, with_op
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.grouping import group_rows
from skerry.operators.kept_rows import KeptRows
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.order_codes import order_keys, order_rows
from skerry.operators.signed_accumulators import exact_keys
from skerry.plan.over import OrderKey

__all__ = ["MOST_ROWS", "TopRows"]

MOST_ROWS = 10_000_000
"""How many rows are kept, at most."""
_NUMBER = pa.field("#number", pa.int64())
_CLOCK, _WAITING, _ROWS = "clock", "waiting", "rows/"


class TopRows(Operator):
    """Give the rows that a step put among the first ``limit``, and take those back that it put out (``_op``).

    Rows are ordered by ``order``, and by all columns where they are equal in that. With a ``window``, a column of time,
    each window has its own first rows, and is forgotten when the watermark has passed it. Rows of a step wait for its
    end. If rows below only come, no more than the first are kept; if they go too (``is_signed``), all that are there,
    since each may become one of the first. State is in pages by number; costs a sort of what is kept per step.

    >>> top = TopRows(pa.schema({"n": pa.int64()}), [OrderKey("n", descending=True)], 1)
    >>> for value in (5, 3, 8):
    ...     _ = top.transition(pa.record_batch({"n": [value]}))
    ...     top.advance(Micros(0)).to_pydict()
    {'_op': ['+'], 'n': [5]}
    {'_op': [], 'n': []}
    {'_op': ['-', '+'], 'n': [5, 8]}
    """

    def __init__(
        self,
        schema: pa.Schema,
        order: Sequence[OrderKey],
        limit: int,
        offset: int = 0,
        window: str | None = None,
        *,
        is_signed: bool = False,
    ) -> None:
        self._input_schema, self._row_schema = schema, drop_op(schema)
        self._order, self._limit, self._offset = tuple(order), limit, offset
        self._window, self._is_signed = window, is_signed
        self.schema = pa.schema([OP_FIELD, *self._row_schema])
        self._kept = KeptRows(pa.schema([*self._row_schema, _NUMBER]), [_NUMBER.name])
        self._next = 0
        self._waiting: list[pa.RecordBatch] = []
        self._was_waiting = False
        self._closed: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows in."""
        if batch.num_rows:
            self._waiting.append(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give what the step changed, and forget windows that are over."""
        changed = self._revise() if self._waiting else empty(self.schema)
        if self._window and watermark > self._closed:
            self._forget(watermark)
        self._closed = max(self._closed, watermark)
        return changed

    def changes(self) -> PageChanges:
        """The pages in which rows have come or gone."""
        kept = self._kept.changes()
        gone = [_WAITING] if self._was_waiting and not self._waiting else []
        self._was_waiting = bool(self._waiting)
        put = {_ROWS + name: blob for name, blob in kept.put.items()}
        return PageChanges({**put, **self._clock_pages()}, [*(_ROWS + name for name in kept.drop), *gone])

    def snapshot(self) -> StatePages:
        """All rows."""
        return {**{_ROWS + name: blob for name, blob in self._kept.snapshot().items()}, **self._clock_pages()}

    def restore(self, pages: StatePages) -> None:
        """Take rows over."""
        self._kept.restore({name.removeprefix(_ROWS): pages[name] for name in pages if name.startswith(_ROWS)})
        if _WAITING in pages:
            self._waiting, self._was_waiting = [unpack(pages[_WAITING])], True
        if _CLOCK in pages:
            closed, following = pages[_CLOCK].split()
            self._closed, self._next = Micros(int(closed)), int(following)

    def _clock_pages(self) -> dict[str, bytes]:
        waiting = {_WAITING: pack(join(self._waiting, self._input_schema))} if self._waiting else {}
        return {_CLOCK: f"{self._closed} {self._next}".encode(), **waiting}

    def _revise(self) -> pa.RecordBatch:
        """Take in what waits; the first rows that are others now."""
        waiting, self._waiting = join(self._waiting, self._input_schema), []
        old = self._list_rows()
        is_minus = mark_minus(waiting) if self._is_signed else np.zeros(waiting.num_rows, np.bool_)
        rows = join([old, self._number(waiting.select(self._row_schema.names))], self._kept.schema)
        counts = np.concatenate([np.ones(old.num_rows, np.int64), np.where(is_minus, -1, 1)])
        there = self._mark_there(rows, counts) if is_minus.any() else np.ones(rows.num_rows, np.bool_)
        now = rows.filter(pa.array(there))
        first_before, first_now = self._find_first(old), self._find_first(now)
        self._keep(old, now if self._is_signed else now.filter(pa.array(self._mark_near(now))))
        return self._compare(old.filter(pa.array(first_before)), now.filter(pa.array(first_now)))

    def _number(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        numbers = pa.array(np.arange(self._next, self._next + rows.num_rows))
        self._next += rows.num_rows
        return pa.RecordBatch.from_arrays([*rows.columns, numbers], schema=self._kept.schema)

    def _list_rows(self) -> pa.RecordBatch:
        rows = join([self._kept.pages[page] for page in sorted(self._kept.pages)], self._kept.schema)
        return rows.take(pc.sort_indices(rows.column(_NUMBER.name)))

    def _mark_there(self, rows: pa.RecordBatch, counts: Int64s) -> Bools:
        """Of equal rows, as many as came and did not go: the oldest."""
        columns = [rows.column(name) for name in self._row_schema.names]
        numbers = group_rows([key for column in columns for key in exact_keys(column)], rows.num_rows).numbers
        left = np.bincount(numbers, counts).astype(np.int64)
        assert (left >= 0).all(), "a row is taken back that was not there"
        come = np.flatnonzero(counts > 0)
        order = come[np.argsort(numbers[come], kind="stable")]
        groups = numbers[order]
        before = np.arange(groups.size) - np.searchsorted(groups, groups)
        there = np.zeros(rows.num_rows, np.bool_)
        there[order] = before < left[groups]
        return there

    def _find_first(self, rows: pa.RecordBatch) -> Bools:
        """Which rows are given."""
        positions = self._find_positions(rows)
        found: Bools = (positions >= self._offset) & (positions < self._offset + self._limit)
        return found

    def _mark_near(self, rows: pa.RecordBatch) -> Bools:
        """Which rows are given, or would be if those before them were not."""
        found: Bools = self._find_positions(rows) < self._offset + self._limit
        return found

    def _find_positions(self, rows: pa.RecordBatch) -> Int64s:
        """The place of each row in its window."""
        plain = rows.select(self._row_schema.names)
        windows = np.zeros(rows.num_rows, np.int64)
        if self._window:
            windows = rows.column(self._window).cast(pa.int64()).fill_null(START_OF_TIME).to_numpy()
        order = order_rows(np.zeros(rows.num_rows, np.int64), 1, [windows, *order_keys(plain, self._order)], plain)
        in_order = windows[order]
        positions = np.empty(rows.num_rows, np.int64)
        positions[order] = np.arange(rows.num_rows) - np.searchsorted(in_order, in_order)
        return positions

    def _keep(self, old: pa.RecordBatch, now: pa.RecordBatch) -> None:
        """Put what is kept from now on in place of what was; pages that stay as they are are not written."""
        if now.num_rows > MOST_ROWS:
            raise LimitError(f"a view with LIMIT keeps more than {MOST_ROWS:,} rows; group by less, or within TUMBLE")
        before, after = (rows.column(_NUMBER.name).to_numpy() for rows in (old, now))
        gone, come = ~np.isin(before, after), ~np.isin(after, before)
        pages = np.concatenate([self._kept.pages_of(old)[gone], self._kept.pages_of(now)[come]])
        self._kept.take(pages)
        touched = np.isin(self._kept.pages_of(now), pages)
        rows = now.filter(pa.array(touched))
        self._kept.put(rows, self._kept.pages_of(rows))

    def _compare(self, before: pa.RecordBatch, after: pa.RecordBatch) -> pa.RecordBatch:
        """Rows that are not among the first any more, and rows that are from now on."""
        was, now = (rows.column(_NUMBER.name).to_numpy() for rows in (before, after))
        gone, come = (~np.isin(one, other) for one, other in ((was, now), (now, was)))
        rows = join([before.filter(pa.array(gone)), after.filter(pa.array(come))], self._kept.schema)
        return with_op(rows.select(self._row_schema.names), np.arange(rows.num_rows) < np.count_nonzero(gone))

    def _forget(self, watermark: Micros) -> None:
        rows = self._list_rows()
        ends = rows.column(self._window).cast(pa.int64()).fill_null(START_OF_TIME).to_numpy()
        over = ends < watermark if watermark < END_OF_TIME else np.ones(rows.num_rows, np.bool_)
        if over.any():
            self._keep(rows, rows.filter(pa.array(~over)))
