"""The second half of a window aggregate: partial rows kept until their windows close."""

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.batch import empty, join
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.operators.closing_windows import find_closing, last_ends
from skerry.operators.folds import finish
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE, accumulators_of, partial_schema
from skerry.operators.slice_runs import SliceRuns, merge_rows
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["WindowAggregate"]


class WindowAggregate(Operator):
    """Give one row per window and group when the watermark passes the window's end.

    State is partial rows by slice and group (``SliceRuns``). Readings behind the watermark must not be given to it.
    Rows come out ordered by window and keys, so that the answer does not depend on the order of arrival.
    """

    def __init__(self, window: Window, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        self._window, self._keys, self._folds = window, tuple(keys), tuple(folds)
        self._accumulators = accumulators_of(folds)
        self._partial_schema = partial_schema(self._keys, self._accumulators)
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        self.schema = pa.schema([*times, *self._keys, *(pa.field(fold.name, fold.type) for fold in self._folds)])
        self._runs = SliceRuns(
            self._partial_schema, 1 + len(self._keys), self._accumulators, partial(last_ends, self._window)
        )

    @property
    def closed(self) -> Micros:
        """The watermark until which windows are closed."""
        return self._runs.closed

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial rows in."""
        self._runs.add(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the windows that end until ``watermark``."""
        return self.finish(self.close(watermark))

    def close(self, watermark: Micros) -> pa.RecordBatch:
        """Take the windows out that end until ``watermark``: one partial row per window, by its start, and group."""
        if watermark <= self.closed:
            return empty(self._partial_schema)
        rows = join([self._close(batch, watermark) for batch in self._runs.batches()], self._partial_schema)
        self._runs.close(watermark)
        return self.merge(rows) if rows.num_rows else rows

    def changes(self) -> PageChanges:
        """The new run, merges, and the runs that are no longer needed."""
        return self._runs.changes()

    def snapshot(self) -> StatePages:
        """All runs."""
        return self._runs.snapshot()

    def restore(self, pages: StatePages) -> None:
        """Take runs over."""
        self._runs.restore(pages)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All runs as one run per bucket."""
        return self._runs.redistribute(states, spread)

    def merge(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """One partial row for each slice, or window, and group."""
        return merge_rows(rows, 1 + len(self._keys), self._accumulators)

    def _close(self, batch: pa.RecordBatch, watermark: Micros) -> pa.RecordBatch:
        slices = batch.column(SLICE).to_numpy()
        return find_closing(self._window, slices, self.closed, watermark).take(batch)

    def finish(self, merged: pa.RecordBatch) -> pa.RecordBatch:
        """The answers of windows that were closed, in order."""
        if merged.num_rows == 0:
            return empty(self.schema)
        order = pc.sort_indices(merged, [(name, "ascending") for name in merged.schema.names[: 1 + len(self._keys)]])
        merged = merged.take(order)
        starts = merged.column(SLICE)
        times = [starts.cast(TIMESTAMP), pc.add(starts, self._window.size_us).cast(TIMESTAMP)]
        accumulators = {accumulator.name: merged.column(accumulator.name) for accumulator in self._accumulators}
        keys = [merged.column(key.name) for key in self._keys]
        return pa.RecordBatch.from_arrays(
            [*times, *keys, *(finish(fold, accumulators) for fold in self._folds)], schema=self.schema
        )
