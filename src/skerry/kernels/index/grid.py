"""Cells: each axis cut where ends of boxes lie, so that a cell holds about as many ends as any other.

    axis     ────┼───────┼──┼──┼────────┼────
    starts   LEAST   3   7  8  9       40          cell 1 holds the codes from 3 to 6

An end that lies on a cut is exact: the box covers the cell or does not meet it.
"""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int32s, Int64s

__all__ = ["GREATEST", "LEAST", "Grid", "build_grid", "cell_of", "cells_of"]


LEAST, GREATEST = -(2**63), 2**63 - 1
"""Where a box has no end."""
_SAMPLE = 2**15
"""Cells are cut by a sample of so many boxes."""
_CHUNK = 256


class Grid(NamedTuple):
    """The cells of each axis."""

    starts: Int64s
    """Axis by cell: the least code that is in it. The first is ``LEAST``."""
    counts: Int64s
    """How many cells an axis has."""

    @property
    def cells(self) -> int:
        """How many cells an axis can have."""
        return int(self.starts.shape[1])


def build_grid(lows: Int64s, highs: Int64s, cells: int) -> Grid:
    """Cut each axis into ``cells`` at the most, by where boxes begin and end. Arrays are axis by box.

    >>> build_grid(np.array([[3, 8]]), np.array([[6, GREATEST]]), 4).starts.tolist()
    [[-9223372036854775808, 3, 7, 8]]
    """
    if lows.shape != highs.shape:
        raise KernelError("boxes have as many lows as highs, but got", lows.shape, highs.shape)
    step = max(lows.shape[1] // _SAMPLE, 1)
    starts = np.full((lows.shape[0], cells), GREATEST, np.int64)
    counts = np.ones(lows.shape[0], np.int64)
    for axis, (low, high) in enumerate(zip(lows[:, ::step], highs[:, ::step], strict=True)):
        cuts = _choose_cuts(np.concatenate([low[low > LEAST], high[high < GREATEST] + 1]), cells - 1)
        starts[axis, 0] = LEAST
        starts[axis, 1 : cuts.size + 1] = cuts
        counts[axis] += cuts.size
    return Grid(starts, counts)


def _choose_cuts(ends: Int64s, most: int) -> Int64s:
    """Some of the codes at which boxes end. A code that many share has enough weight to be chosen for sure."""
    codes, weights = np.unique(ends, return_counts=True)
    if codes.size <= most:
        return codes
    reached = np.cumsum(np.minimum(weights, ends.size // most + 1))
    wanted = (np.arange(most) + 0.5) * (reached[-1] / most)
    return codes[np.unique(np.searchsorted(reached, wanted))]


def cells_of(grid: Grid, points: Int64s) -> Int32s:
    """The cell of each point on each axis; points are axis by row.

    >>> cells_of(Grid(np.array([[LEAST, 3, 7]]), np.array([3])), np.array([[2, 3, 100]])).tolist()
    [[0, 1, 2]]
    """
    if points.shape[0] != grid.starts.shape[0]:
        raise KernelError("points and cells differ in axes:", points.shape[0], grid.starts.shape[0])
    return _find_cells(grid.starts, grid.counts, np.ascontiguousarray(points, np.int64))


@kernel
def cell_of(starts, count, code):
    """The last cell that starts at or before a code."""
    low, size = 0, count
    while size > 1:
        half = size >> 1
        low += half if starts[low + half] <= code else 0
        size -= half
    return low


@kernel
def _find_cells(starts, counts, points):
    """All points of a chunk take one step of the binary search before any takes the next: loads overlap in memory."""
    cells, chunk = np.empty(points.shape, np.int32), np.empty(_CHUNK, np.int64)
    for axis in range(points.shape[0]):
        for start in range(0, points.shape[1], _CHUNK):
            codes = points[axis, start : start + _CHUNK]
            _find_chunk(starts[axis], counts[axis], codes, chunk)
            for row in range(codes.size):
                cells[axis, start + row] = chunk[row]
    return cells


@kernel
def _find_chunk(starts, count, codes, cells):
    """The same as ``cell_of``, for many codes."""
    cells[:] = 0
    while count > 1:
        half = count >> 1
        for row in range(codes.size):
            cells[row] += half if starts[np.uint64(cells[row] + half)] <= codes[row] else 0
        count -= half
