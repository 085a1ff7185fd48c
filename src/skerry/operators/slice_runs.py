"""What a window aggregate keeps: partial rows by slice, in runs, as state pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.batch import join, pack, unpack
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.accumulators import Accumulator
from skerry.operators.grouping import group_rows
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.partial_aggregate import SLICE
from skerry.operators.spread import Spread

__all__ = ["SliceRuns", "merge_rows"]

_CLOCK = "clock"
_RUNS_BEFORE_MERGE = 8


def merge_rows(rows: pa.RecordBatch, heads: int, accumulators: Sequence[Accumulator]) -> pa.RecordBatch:
    """One row for all that are equal in their first columns, its accumulators made of theirs."""
    groups = group_rows([rows.column(position) for position in range(heads)], rows.num_rows)
    first = pa.array(groups.first)
    columns = [rows.column(position).take(first) for position in range(heads)]
    columns += [each.merge(rows.column(each.name), groups) for each in accumulators]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


@dataclass(frozen=True)
class _Run:
    """Partial rows that came together, by slice, and the last moment at which any of their windows ends."""

    rows: pa.RecordBatch
    ends_us: int


class SliceRuns:
    """Partial rows by slice, kept until the last window of their slice is closed.

    State is a log of *runs*: each save writes the partial rows that came since the last one, and now and then small
    runs are merged into one, so that what is written is in proportion to what is new. A run is dropped when all its
    windows have closed. ``last_ends`` gives the end of the last window that each slice is in.
    """

    def __init__(
        self,
        schema: pa.Schema,
        heads: int,
        accumulators: Sequence[Accumulator],
        last_ends: Callable[[Int64s], Int64s],
    ) -> None:
        self._schema, self._heads, self._accumulators = schema, heads, tuple(accumulators)
        self._last_ends = last_ends
        self._fresh: list[pa.RecordBatch] = []
        self._runs: dict[int, _Run] = {}
        self._saved: set[str] = set()
        self._next_run = 0
        self.closed: Micros = START_OF_TIME
        """The watermark until which windows are closed."""

    def add(self, rows: pa.RecordBatch) -> None:
        """Take partial rows in."""
        if rows.num_rows:
            self._fresh.append(_order_by_slice(rows))
        if len(self._fresh) > _RUNS_BEFORE_MERGE:
            self._settle()

    def batches(self) -> list[pa.RecordBatch]:
        """All that is kept, in batches ordered by slice."""
        return [run.rows for run in self._runs.values()] + self._fresh

    def close(self, watermark: Micros) -> None:
        """Forget what has no window any more that ends after ``watermark``."""
        self.closed = watermark
        self._runs = {number: run for number, run in self._runs.items() if run.ends_us > watermark}
        self._fresh = [batch for batch in self._fresh if self._find_end(batch) > watermark]

    def changes(self) -> PageChanges:
        """The new run, merges, and the runs that are no longer needed."""
        self._settle()
        pages = {str(number): run.rows for number, run in self._runs.items() if str(number) not in self._saved}
        gone = self._saved - {str(number) for number in self._runs}
        self._saved = {str(number) for number in self._runs}
        return PageChanges({name: pack(rows) for name, rows in pages.items()} | self._clock, sorted(gone))

    def snapshot(self) -> StatePages:
        """All runs."""
        self._settle()
        return {str(number): pack(run.rows) for number, run in self._runs.items()} | self._clock

    def restore(self, pages: StatePages) -> None:
        """Take runs over."""
        if _CLOCK in pages:
            closed, next_run = pages[_CLOCK].split()
            self.closed, self._next_run = Micros(int(closed)), int(next_run)
        runs = {int(name): _order_by_slice(unpack(blob)) for name, blob in pages.items() if name != _CLOCK}
        self._runs = {number: _Run(rows, self._find_end(rows)) for number, rows in sorted(runs.items())}
        self._saved = {str(number) for number in self._runs}

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All runs as one run per bucket."""
        runs = [unpack(state[name]) for state in states for name in sorted(state.keys() - {_CLOCK}, key=int)]
        closed = max(int(state[_CLOCK].split()[0]) for state in states)
        parts = spread.split(join(runs, self._schema))
        clock = {_CLOCK: f"{closed} 1".encode()}
        return [{"0": pack(rows), **clock} if rows.num_rows else clock for rows in parts]

    @property
    def _clock(self) -> dict[str, bytes]:
        return {_CLOCK: f"{self.closed} {self._next_run}".encode()}

    def _find_end(self, batch: pa.RecordBatch) -> int:
        """When the last window that any of these rows belongs to ends."""
        return int(self._last_ends(batch.column(SLICE).to_numpy()).max())

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
        rows = merge_rows(join(batches, self._schema), self._heads, self._accumulators)
        rows = rows.filter(pa.array(self._last_ends(rows.column(SLICE).to_numpy()) > self.closed))
        if rows.num_rows:
            rows = _order_by_slice(rows)
            self._runs[self._next_run] = _Run(rows, self._find_end(rows))
            self._next_run += 1


def _order_by_slice(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows in the order of their slices."""
    slices = rows.column(SLICE).to_numpy()
    is_in_order = bool((slices[1:] >= slices[:-1]).all())
    return rows if is_in_order else rows.take(pa.array(np.argsort(slices, kind="stable")))
