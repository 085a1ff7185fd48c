"""The second half of a window aggregate: partial rows kept until their windows close."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.operators.folds import finish
from skerry.operators.grouping import group_rows
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE, accumulators_of, partial_schema
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["WindowAggregate"]

_CLOCK = "clock"
_RUNS_BEFORE_MERGE = 8


@dataclass(frozen=True)
class _Run:
    """Partial rows that came together, and the last moment at which any of their windows ends."""

    rows: pa.RecordBatch
    ends_us: int


class WindowAggregate(Operator):
    """Give one row a window and group when the watermark passes the window's end.

    State is a log of *runs*: each save writes the partial rows that came since the last one, and
    now and then small runs are merged into one, so that what is written is in proportion to what is
    new. A run is dropped when all its windows have closed. Readings behind the watermark must not be
    given to it. Rows come out ordered by window and keys, so that the answer does not depend on the
    order of arrival.
    """

    def __init__(self, window: Window, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        self._window, self._keys, self._folds = window, tuple(keys), tuple(folds)
        self._accumulators = accumulators_of(folds)
        self._partial_schema = partial_schema(self._keys, self._accumulators)
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        self.schema = pa.schema([*times, *self._keys, *(pa.field(fold.name, fold.type) for fold in self._folds)])
        self._fresh: list[pa.RecordBatch] = []
        self._runs: dict[int, _Run] = {}
        self._saved: set[str] = set()
        self._next_run = 0
        self.closed: Micros = START_OF_TIME
        """The watermark until which windows are closed."""

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial rows in."""
        if batch.num_rows:
            self._fresh.append(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the windows that end until ``watermark``."""
        return self.finish(self.close(watermark))

    def close(self, watermark: Micros) -> pa.RecordBatch:
        """Take the windows out that end until ``watermark``: one partial row per window, by its start, and group."""
        if watermark <= self.closed:
            return empty(self._partial_schema)
        rows = join([self._close(batch, watermark) for batch in self._live_rows()], self._partial_schema)
        found = self.merge(rows) if rows.num_rows else rows
        self.closed = watermark
        self._runs = {number: run for number, run in self._runs.items() if run.ends_us > watermark}
        self._fresh = [batch for batch in self._fresh if self._ends(batch) > watermark]
        return found

    def changes(self) -> PageChanges:
        """The new run, merges, and the runs that are no longer needed."""
        self._settle()
        pages = {str(number): run.rows for number, run in self._runs.items() if str(number) not in self._saved}
        gone = self._saved - {str(number) for number in self._runs}
        self._saved = {str(number) for number in self._runs}
        clock = {_CLOCK: f"{self.closed} {self._next_run}".encode()}
        return PageChanges({name: pack(rows) for name, rows in pages.items()} | clock, sorted(gone))

    def snapshot(self) -> StatePages:
        """All runs."""
        self._settle()
        clock = {_CLOCK: f"{self.closed} {self._next_run}".encode()}
        return {str(number): pack(run.rows) for number, run in self._runs.items()} | clock

    def restore(self, pages: StatePages) -> None:
        """Take runs over."""
        if _CLOCK in pages:
            closed, next_run = pages[_CLOCK].split()
            self.closed, self._next_run = Micros(int(closed)), int(next_run)
        runs = {int(name): unpack(blob) for name, blob in pages.items() if name != _CLOCK}
        self._runs = {number: _Run(rows, self._ends(rows)) for number, rows in sorted(runs.items())}
        self._saved = {str(number) for number in self._runs}

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All runs as one run per bucket."""
        runs = [unpack(state[name]) for state in states for name in sorted(state.keys() - {_CLOCK}, key=int)]
        closed = max(int(state[_CLOCK].split()[0]) for state in states)
        parts = spread.split(join(runs, self._partial_schema))
        clock = {_CLOCK: f"{closed} 1".encode()}
        return [{"0": pack(rows), **clock} if rows.num_rows else clock for rows in parts]

    def _live_rows(self) -> list[pa.RecordBatch]:
        return [run.rows for run in self._runs.values()] + self._fresh

    def _ends(self, batch: pa.RecordBatch) -> int:
        """When the last window that any of these rows belongs to ends."""
        newest = self._find_newest_starts(batch.column(SLICE).to_numpy())
        return int(newest.max()) + self._window.size_us

    def _find_newest_starts(self, slices: Int64s) -> Int64s:
        """The start of the last window that each slice is in."""
        origin_us, slide_us = self._window.origin_us, self._window.slide_us
        return (slices - origin_us) // slide_us * slide_us + origin_us

    def _settle(self) -> None:
        """Turn what is fresh into a run; when there are many small runs, merge them."""
        if self._fresh:
            self._add_run(self._fresh)
            self._fresh = []
        if len(self._runs) > _RUNS_BEFORE_MERGE:
            sizes = sorted((run.rows.nbytes, number) for number, run in self._runs.items())
            small = sorted(number for _, number in sizes[: _RUNS_BEFORE_MERGE // 2 + 1])
            self._add_run([self._runs.pop(number).rows for number in small])

    def _add_run(self, batches: Sequence[pa.RecordBatch]) -> None:
        rows = self.merge(join(batches, self._partial_schema))
        rows = rows.filter(pc.greater(rows.column(SLICE), self.closed - self._window.size_us))
        if rows.num_rows:
            self._runs[self._next_run] = _Run(rows, self._ends(rows))
            self._next_run += 1

    def merge(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """One partial row for each slice, or window, and group."""
        groups = group_rows([rows.column(position) for position in range(1 + len(self._keys))], rows.num_rows)
        first = pa.array(groups.first)
        heads = [rows.column(position).take(first) for position in range(1 + len(self._keys))]
        columns = [accumulator.merge(rows.column(accumulator.name), groups) for accumulator in self._accumulators]
        return pa.RecordBatch.from_arrays([*heads, *columns], schema=self._partial_schema)

    def _close(self, batch: pa.RecordBatch, watermark: Micros) -> pa.RecordBatch:
        """The rows of the windows that end in (closed, watermark], the slice replaced by the window's start."""
        slices = batch.column(SLICE).to_numpy()
        newest = self._find_newest_starts(slices)
        chosen = []
        for back in range(0, self._window.size_us, self._window.slide_us):
            starts = newest - back
            ends = starts + self._window.size_us
            rows = np.flatnonzero((starts + self._window.size_us > slices) & (ends > self.closed) & (ends <= watermark))
            if rows.size:
                chosen.append(batch.take(pa.array(rows)).set_column(0, SLICE, pa.array(starts[rows])))
        return join(chosen, self._partial_schema)

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
