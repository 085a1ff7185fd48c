"""The second half of an aggregate over windows of several sizes: one store of slices for all of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.operators.accumulators import Accumulator
from skerry.operators.closing_windows import find_closing, last_ends
from skerry.operators.folds import finish
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE, accumulators_of, partial_schema
from skerry.operators.slice_runs import SliceRuns, merge_rows
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold
from skerry.plan.sliced_aggregate import WINDOW_NUMBER

__all__ = ["SlicedAggregate"]

_NUMBER = pa.field(WINDOW_NUMBER, pa.int64())


class _Kind(NamedTuple):
    """Windows of which the same folds are wanted."""

    numbers: list[int]
    folds: tuple[Fold, ...]
    accumulators: tuple[Accumulator, ...]


class SlicedAggregate(Operator):
    """Give one row per window and group when the watermark passes the window's end, for windows of several sizes.

    State is partial rows by slice and group, once for all windows: each makes its answers of the slices that it
    consists of. So more windows cost no more state than the longest, and no second look at a reading; each costs the
    merge of its slices when it closes. Accumulators merge to the last bit, so that answers are those of an aggregate
    per window. Rows come out ordered by the number of the window, the window and the keys. Readings behind the
    watermark must not be given to it.
    """

    def __init__(
        self,
        windows: Sequence[Window],
        keys: Sequence[pa.Field],
        folds: Sequence[Fold],
        wanted: Sequence[Sequence[str]],
    ) -> None:
        self._windows, self._keys, self._folds = tuple(windows), tuple(keys), tuple(folds)
        self._heads = 1 + len(self._keys)
        accumulators = accumulators_of(folds)
        self._partial_schema = partial_schema(self._keys, accumulators)
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        answers = [pa.field(fold.name, fold.type) for fold in self._folds]
        self.schema = pa.schema([*times, *self._keys, *answers, _NUMBER])
        self._kinds = self._sort_windows(wanted)
        self._slides = np.array([window.slide_us for window in windows], np.int64)
        self._sizes = np.array([window.size_us for window in windows], np.int64)
        self._phases = np.array([window.origin_us + window.size_us for window in windows], np.int64) % self._slides
        self._runs = SliceRuns(self._partial_schema, self._heads, accumulators, self._find_last_ends)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial rows in."""
        self._runs.add(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the windows that end until ``watermark``."""
        if watermark <= self._runs.closed:
            return empty(self.schema)
        is_due = self._count_ends(watermark) > self._count_ends(self._runs.closed)
        made = [self._close(kind, [n for n in kind.numbers if is_due[n]], watermark) for kind in self._kinds]
        self._runs.close(watermark)
        return join(made, self.schema)

    def changes(self) -> PageChanges:
        """The pages of the store that changed."""
        return self._runs.changes()

    def snapshot(self) -> StatePages:
        """The whole store."""
        return self._runs.snapshot()

    def restore(self, pages: StatePages) -> None:
        """Take a store over."""
        self._runs.restore(pages)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """The store, by the buckets of its groups."""
        return self._runs.redistribute(states, spread)

    def _sort_windows(self, wanted: Sequence[Sequence[str]]) -> list[_Kind]:
        numbers: dict[tuple[str, ...], list[int]] = {}
        for number, names in enumerate(wanted):
            numbers.setdefault(tuple(names), []).append(number)
        kinds = []
        for names, those in numbers.items():
            folds = tuple(fold for fold in self._folds if fold.name in names)
            kinds.append(_Kind(those, folds, accumulators_of(folds)))
        return kinds

    def _count_ends(self, moment: Micros) -> Int64s:
        """For each kind of window, how many have ended by a moment, from one that is the same for all moments."""
        return (moment - self._phases) // self._slides

    def _find_last_ends(self, slices: Int64s) -> Int64s:
        """When the last window of any size ends that each slice is in."""
        ends = last_ends(self._windows[0], slices)
        for window in self._windows[1:]:
            np.maximum(ends, last_ends(window, slices), out=ends)
        return ends

    def _close(self, kind: _Kind, due: Sequence[int], watermark: Micros) -> pa.RecordBatch:
        """The answers of all windows of a kind that end in (closed, watermark]."""
        names = [_NUMBER.name, *self._partial_schema.names[: self._heads], *(each.name for each in kind.accumulators)]
        schema = pa.schema([_NUMBER, *(self._partial_schema.field(name) for name in names[1:])])
        found = []
        for batch in self._runs.batches() if due else []:
            slices, rows = batch.column(SLICE).to_numpy(), batch.select(names[1:])
            for number in due:
                closing = find_closing(self._windows[number], slices, self._runs.closed, watermark)
                if closing.starts.size:
                    taken = closing.take(rows)
                    numbers = pa.array(np.full(taken.num_rows, number))
                    found.append(pa.RecordBatch.from_arrays([numbers, *taken.columns], schema=schema))
        rows = join(found, schema)
        return self._finish(kind, merge_rows(rows, 1 + self._heads, kind.accumulators)) if rows.num_rows else rows

    def _finish(self, kind: _Kind, merged: pa.RecordBatch) -> pa.RecordBatch:
        order = pc.sort_indices(merged, [(name, "ascending") for name in merged.schema.names[: 1 + self._heads]])
        merged = merged.take(order)
        numbers, starts = merged.column(0), merged.column(SLICE)
        ends = pc.add(starts, pa.array(self._sizes[numbers.to_numpy()]))
        accumulators = {each.name: merged.column(each.name) for each in kind.accumulators}
        answers = {fold.name: finish(fold, accumulators) for fold in kind.folds}
        made = [answers.get(fold.name, pa.nulls(merged.num_rows, fold.type)) for fold in self._folds]
        keys = [merged.column(key.name) for key in self._keys]
        columns = [starts.cast(TIMESTAMP), ends.cast(TIMESTAMP), *keys, *made, numbers]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
