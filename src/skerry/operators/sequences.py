"""Sequences of rows that match a pattern, found when the watermark has passed them."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.errors import LimitError
from skerry.kernels.sequences import NULL, Comparisons, Found, find_sequences
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty
from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.derive import Derive
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import merge_clocks, select_pages, spread_store
from skerry.operators.kept_rows import KeptRows
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.order_codes import order_codes
from skerry.operators.pattern_program import compile_pattern
from skerry.operators.sequence_measures import measure_matches
from skerry.operators.sorted_rows import SortedRows
from skerry.operators.spread import Spread
from skerry.plan.over import OrderKey
from skerry.plan.sequences import Sequences as SequencesNode

__all__ = ["MOST_STEPS", "Sequences"]

MOST_STEPS = 1_000_000
"""How many steps the search from one row may take."""
_MAY_START = "#may_start"
_OPERATORS = {"=": 0, "<>": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}


class Sequences(Operator):
    """Give one row per match of a pattern, when it is decided by rows that the watermark has passed.

    Rows of a partition are taken in order of time, and of their columns where times are equal, so that what is given
    depends neither on the order of arrival nor on batches. A match from a row is decided when no row to come could
    change it: at the latest when the watermark has passed its span. Rows without a time are left out.

    State is the rows that the watermark has not passed, and those since the first start that is undecided, with the
    rows before it that conditions look back at. Each advance searches anew from that start in the partitions that got
    rows: time grows with the rows of one span, and the number of undecided partitions.
    """

    def __init__(self, node: SequencesNode) -> None:
        self._node, self.schema = node, node.schema
        schema = node.input.schema
        self._names = schema.names
        self._program = compile_pattern(node.pattern)
        self._context = max((each.offset for each in node.previous), default=0)
        self._derive = Derive(
            [(key, Expression.of(key, schema.field(key).type)) for key in node.keys] + [*node.derived]
        )
        fields = [pa.field(each.name, schema.field(each.column).type) for each in node.previous]
        self._with_previous = pa.schema([*schema, *fields])
        self._waiting = RowStore(schema)
        self._kept = KeptRows(schema.append(pa.field(_MAY_START, pa.bool_())), node.keys)
        self._deadlines: dict[int, int] = {}
        """By page, when the first of its undecided starts is decided by time alone."""
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows in."""
        times = batch.column(self._node.time)
        if times.null_count:
            batch = batch.filter(times.is_valid())
        if batch.num_rows:
            self._waiting.add(batch, batch.column(self._node.time).cast(pa.int64()).to_numpy())
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the matches that are decided."""
        if watermark <= self._watermark:
            return empty(self.schema)
        self._watermark = watermark
        fresh = self._take_passed(watermark)
        is_end = watermark >= END_OF_TIME
        due = [page for page, deadline in self._deadlines.items() if is_end or deadline < watermark]
        pages = np.unique(np.concatenate([np.array(due, np.int64), self._kept.pages_of(fresh)]))
        found = self._answer(fresh, pages, watermark) if pages.size else empty(self.schema)
        if is_end:
            self._kept.clear()
        return found

    def changes(self) -> PageChanges:
        """The rows that came and went, and those that are kept."""
        changes, kept = changes_of([self._waiting], self._watermark), self._kept.changes()
        put = {**changes.put, **{f"kept/{name}": blob for name, blob in kept.put.items()}}
        return PageChanges(put, [*changes.drop, *(f"kept/{name}" for name in kept.drop)])

    def snapshot(self) -> StatePages:
        """All rows that wait or are kept."""
        kept = {f"kept/{name}": blob for name, blob in self._kept.snapshot().items()}
        return {**snapshot_of([self._waiting], self._watermark), **kept}

    def restore(self, pages: StatePages) -> None:
        """Take rows over."""
        own = {name: blob for name, blob in pages.items() if not name.startswith("kept/")}
        watermark = restore_all([self._waiting], own)
        if watermark is not None:
            self._watermark = watermark
            self._waiting.forget(watermark)
        self._kept.restore(select_pages(pages, "kept/"))
        for page, rows in self._kept.pages.items():
            self._note_deadline(page, rows)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """Rows that wait and rows that are kept, each in the bucket of its partition."""
        watermark, clock = merge_clocks(states, [0])
        found = [{**part, **clock} for part in spread_store(states, "0/", watermark, spread)]
        kept = self._kept.redistribute([select_pages(state, "kept/") for state in states], spread)
        for pages, part in zip(found, kept, strict=True):
            pages |= {f"kept/{name}": blob for name, blob in part.items()}
        return found

    def _take_passed(self, watermark: Micros) -> pa.RecordBatch:
        _, rows = self._waiting.live_rows()
        passed = rows.column(self._node.time).cast(pa.int64()).to_numpy() < watermark
        self._waiting.forget(watermark)
        return rows if passed.all() else rows.filter(pa.array(passed))

    def _answer(self, fresh: pa.RecordBatch, pages: Int64s, watermark: Micros) -> pa.RecordBatch:
        kept = self._kept.take(pages)
        for page in pages.tolist():
            self._deadlines.pop(page, None)
        rows = SortedRows(kept.select(self._names), fresh, self._node.keys, (OrderKey(self._node.time),))
        if not rows.size:
            return empty(self.schema)
        may_start = np.ones(rows.size, np.bool_)
        is_kept = ~rows.is_fresh
        if kept.num_rows:
            may_start[is_kept] = kept.column(_MAY_START).to_numpy(zero_copy_only=False)[rows.order[is_kept]]
        derived = self._derive.transition(self._add_previous(rows))
        found = self._find(rows, derived, may_start, watermark)
        if watermark < END_OF_TIME:
            self._keep(rows, found.pending)
        return measure_matches(self._node, found, derived)

    def _add_previous(self, rows: SortedRows) -> pa.RecordBatch:
        """The rows, sorted, with what conditions want to know of rows before."""
        columns = [rows.column(name) for name in self._names]
        for each in self._node.previous:
            index = rows.positions - each.offset
            missing = index < rows.starts
            columns.append(rows.column(each.column).take(pa.array(np.where(missing, 0, index), mask=missing)))
        return pa.RecordBatch.from_arrays(columns, schema=self._with_previous)

    def _find(self, rows: SortedRows, derived: pa.RecordBatch, may_start: Bools, watermark: Micros) -> Found:
        bits = np.zeros(rows.size, np.int64)
        for number, name in enumerate(self._node.conditions):
            holds = derived.column(name).fill_null(False).to_numpy(zero_copy_only=False) if name else True
            bits |= np.where(holds, np.int64(1) << number, 0)
        times = rows.column(self._node.time).cast(pa.int64()).to_numpy()
        starts, stops = rows.first_rows, rows.last_rows + 1
        begins = starts + np.add.reduceat((~may_start).astype(np.int64), starts)
        span_us = -1 if self._node.span_us is None else int(self._node.span_us)
        limits = (span_us, int(watermark), MOST_STEPS)
        found = find_sequences(
            *(self._program, bits, times, (starts, begins, stops), self._compare(derived), limits),
            skips_to_next=self._node.skips_to_next,
        )
        if found is None:
            message = f"the pattern {self._node.text} needs more than {MOST_STEPS} steps from one row; make it narrower"
            raise LimitError(message)
        return found

    def _compare(self, derived: pa.RecordBatch) -> Comparisons:
        """What is compared, as codes that are ordered as the values are."""
        asked = self._node.comparisons
        lefts, rights = (np.empty((len(asked), derived.num_rows), np.int64) for _ in range(2))
        for number, each in enumerate(asked):
            pair = [derived.column(each.left), derived.column(each.right)]
            codes = _rank(pa.concat_arrays(pair))
            lefts[number], rights[number] = codes[: derived.num_rows], codes[derived.num_rows :]
        heads = [(each.symbol, _OPERATORS[each.operator], each.other, each.is_first) for each in asked]
        symbols, operators, others, firsts = np.array(heads, np.int64).reshape(-1, 4).T.copy()
        return Comparisons(symbols, operators, others, firsts, lefts, rights)

    def _keep(self, rows: SortedRows, pending: Int64s) -> None:
        """The rows from the first undecided start on, and those that conditions look back at."""
        group = np.repeat(np.arange(pending.size), rows.last_rows - rows.first_rows + 1)
        chosen = np.flatnonzero(rows.positions >= pending[group] - self._context)
        if not chosen.size:
            return
        taken = rows.rows.select(self._names).take(pa.array(rows.order[chosen]))
        flags = pa.array(chosen >= pending[group][chosen])
        batch = pa.RecordBatch.from_arrays([*taken.columns, flags], schema=self._kept.schema)
        pages = self._kept.pages_of(batch)
        self._kept.put(batch, pages)
        for page in np.unique(pages).tolist():
            self._note_deadline(page, self._kept.pages[page])

    def _note_deadline(self, page: int, rows: pa.RecordBatch) -> None:
        times = rows.filter(rows.column(_MAY_START)).column(self._node.time).cast(pa.int64()).to_numpy()
        if times.size:
            span_us = self._node.span_us
            self._deadlines[page] = int(END_OF_TIME) if span_us is None else int(times.min()) + int(span_us)


def _rank(values: pa.Array) -> Int64s:
    """Codes that are ordered as the values are, from 0; NULL is below all, and equal to nothing."""
    codes = np.unique(order_codes(values), return_inverse=True)[1]
    ranks: Int64s = np.where(values.is_null().to_numpy(zero_copy_only=False), NULL, codes)
    return ranks
