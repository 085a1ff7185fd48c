"""The first half of a window aggregate: a batch folded into few rows, before anything is shuffled."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from skerry.kernels.folds.group import Groups
from skerry.kernels.folds.slices import slice_numbers
from skerry.model.batch import empty
from skerry.model.window import Window
from skerry.operators.accumulators import Cell
from skerry.operators.folds import accumulators
from skerry.operators.grouping import canonical, group_rows
from skerry.operators.operator import Operator
from skerry.plan.fold import Fold

__all__ = ["SLICE", "PartialAggregate", "cells_of", "partial_schema"]

SLICE = "slice"
"""The column of partial aggregates that holds the start of the slice, in microseconds."""


def cells_of(folds: Iterable[Fold]) -> tuple[Cell, ...]:
    """The cells that folds need, each once. There is always one, so that a group is never lost."""
    found = {cell.name: cell for fold in folds for cell in accumulators(fold)}
    return tuple(found.values())


def partial_schema(keys: Sequence[pa.Field], cells: Sequence[Cell]) -> pa.Schema:
    """Slice, keys, cells."""
    return pa.schema([pa.field(SLICE, pa.int64()), *keys, *(pa.field(cell.name, cell.type) for cell in cells)])


class PartialAggregate(Operator):
    """Fold readings into one row a slice and group. Stateless: costs some 20 ns a reading.

    >>> from skerry.model.time import seconds
    >>> fold = Fold("avg", "speed", pa.float64(), "speed")
    >>> partial = PartialAggregate(Window(seconds(30), seconds(30)), "ts", [pa.field("segment", pa.int32())], [fold])
    >>> partial.schema.names
    ['slice', 'segment', 'total(speed)', 'count(speed)']
    """

    def __init__(self, window: Window, time: str, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        self._window, self._time, self._keys = window, time, tuple(keys)
        self._cells = cells_of(folds)
        self.schema = partial_schema(self._keys, self._cells)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Fold the batch."""
        if batch.num_rows == 0:
            return empty(self.schema)
        times = batch.column(self._time)
        if times.null_count:  # no time, no window
            return self.transition(batch.filter(times.is_valid()))
        # Numbers of slices, not their starts: close together, so that grouping can go by a table.
        slices = pa.array(slice_numbers(times.cast(pa.int64()).to_numpy(), self._window.slice_us))
        keys = [batch.column(key.name) for key in self._keys]
        groups = group_rows([slices, *keys], batch.num_rows)
        first = pa.array(groups.first)
        cells = [self._fold(cell, batch, groups) for cell in self._cells]
        starts = pa.array(slices.take(first).to_numpy() * self._window.slice_us)
        heads = [starts, *(canonical(key.take(first)) for key in keys)]
        return pa.RecordBatch.from_arrays([*heads, *cells], schema=self.schema)

    def _fold(self, cell: Cell, batch: pa.RecordBatch, groups: Groups) -> pa.Array:
        return cell.fold(None if cell.argument is None else batch.column(cell.argument), groups)
