"""Boxes sorted into clusters of neighbours, by halving: each time at the end, of any axis, that parts them best.

What a part costs later is the fraction of cells that its boxes meet, so the best cut is the one whose two halves,
weighed by their boxes, reach least far. It is looked for in a sample, and made at the median.

Boxes that are bounded on the same axes come together first, where there are many of them: among others, each
would reach over all of the axes that only they bound.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import GREATEST, LEAST, Grid, cells_of
from skerry.model.arrays import Float64s, Int64s

__all__ = ["choose_cut", "cluster_boxes", "measure_coverage", "partition"]


_SAMPLE = 128
_DEEPEST = 128
_MANY = 8
"""A group of its own has as many boxes as so many clusters."""


def cluster_boxes(grid: Grid, lows: Int64s, highs: Int64s, most: int) -> tuple[Int64s, Int64s]:
    """The order of boxes by cluster, and where each cluster begins; the end of the last behind them.

    >>> lows = np.array([[0, 90, 1, 91]])
    >>> grid = Grid(np.array([[-(2**63), 50]]), np.array([2]))
    >>> order, firsts = cluster_boxes(grid, lows, lows + 5, 2)
    >>> [sorted(order[first : first + 2].tolist()) for first in firsts[:-1]]
    [[0, 2], [1, 3]]
    """
    order, edges = _by_bounds(lows, highs, _MANY * most)
    firsts = np.zeros(2 * (order.size // most) + edges.size + 1, np.int64)
    bounds = np.concatenate([lows, highs])
    cells = np.concatenate([cells_of(grid, lows), cells_of(grid, highs)])
    return order, firsts[: _cluster(bounds, cells, order, edges, most, firsts) + 1]


def _by_bounds(lows: Int64s, highs: Int64s, many: int) -> tuple[Int64s, Int64s]:
    """The order of boxes by the axes they are bounded on, and where each such group begins, and the last ends.

    Groups of fewer than ``many`` boxes are one.
    """
    weights = np.random.default_rng(0).integers(1, 2**62, lows.shape[0])
    kinds = weights @ ((lows > LEAST) | (highs < GREATEST))
    if not kinds.size or (kinds == kinds[0]).all():
        return np.arange(kinds.size), np.array([0, kinds.size])
    _, groups, sizes = np.unique(kinds, return_inverse=True, return_counts=True)
    groups = np.where(sizes[groups] < many, -1, groups)
    order = np.argsort(groups, kind="stable")
    edges = np.flatnonzero(np.diff(groups[order])) + 1
    return order, np.concatenate([[0], edges, [order.size]])


def measure_coverage(grid: Grid, lows: Int64s, highs: Int64s, order: Int64s, firsts: Int64s) -> Float64s:
    """The fraction of cells that each cluster reaches over, on all axes together.

    >>> grid = Grid(np.array([[-(2**63), 50]]), np.array([2]))
    >>> measure_coverage(grid, np.array([[0, 1]]), np.array([[5, 60]]), np.arange(2), np.array([0, 1, 2])).tolist()
    [0.5, 1.0]
    """
    if firsts.size < 2:
        return np.empty(0)
    first = np.minimum.reduceat(cells_of(grid, lows)[:, order], firsts[:-1], axis=1)
    last = np.maximum.reduceat(cells_of(grid, highs)[:, order], firsts[:-1], axis=1)
    coverage: Float64s = np.prod((last - first + 1) / grid.counts[:, None], axis=0)
    return coverage


@kernel
def _cluster(bounds, cells, order, edges, most, firsts):
    found = 0
    for group in range(edges.size - 1):
        found = _halve(bounds, cells, order, edges[group], edges[group + 1], most, firsts, found)
    firsts[found] = order.size
    return found


@kernel
def _halve(bounds, cells, order, first, last, most, firsts, found):
    """Halve a group until its parts are small enough. They are numbered on from those found before."""
    waiting = np.empty((_DEEPEST, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = first, last
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = waiting[depth, 0], waiting[depth, 1]
        if stop - start <= most:
            firsts[found] = start
            found += 1 if stop > start else 0
        else:
            parts = (stop - start + most - 1) // most
            middle = start + (parts // 2) * ((stop - start + parts - 1) // parts)
            cut = choose_cut(cells, order, start, stop)
            if cut >= 0:
                partition(bounds[cut], order, start, stop, middle)
            waiting[depth, 0], waiting[depth, 1] = middle, stop
            waiting[depth + 1, 0], waiting[depth + 1, 1] = start, middle
            depth += 2
    return found


@kernel
def choose_cut(cells, order, start, stop):
    """Which row of ends parts boxes best, or -1 if none does."""
    axes, step = cells.shape[0] // 2, max((stop - start) // _SAMPLE, 1)
    best, least = -1, np.inf
    for cut in range(2 * axes):
        axis, total, count = cut % axes, 0, 0
        for index in range(start, stop, step):
            total += cells[cut, order[index]]
            count += 1
        low, high, middle = _measure_halves(cells, order, start, stop, step, axis, cut, total / count)
        if middle > 0 and middle < count:
            reach = (
                (middle * low + (count - middle) * high) / count / _count_cells(cells, order, start, stop, step, axis)
            )
            if reach < least:
                best, least = cut, reach
    return best


@kernel
def _measure_halves(cells, order, start, stop, step, axis, cut, mean):
    """How many cells of an axis the boxes below a mean reach over, and the others; how many boxes are below."""
    axes, below = cells.shape[0] // 2, 0
    first, last = np.full(2, np.iinfo(np.int64).max), np.full(2, -1)
    for index in range(start, stop, step):
        box = order[index]
        side = 0 if cells[cut, box] < mean else 1
        below += 1 - side
        first[side] = min(first[side], cells[axis, box])
        last[side] = max(last[side], cells[axes + axis, box])
    return last[0] - first[0] + 1, last[1] - first[1] + 1, below


@kernel
def _count_cells(cells, order, start, stop, step, axis):
    """How many cells of an axis the boxes reach over."""
    first, last = cells[axis, order[start]], cells[axis, order[start]]
    for index in range(start, stop, step):
        first = min(first, cells[axis, order[index]])
        last = max(last, cells[cells.shape[0] // 2 + axis, order[index]])
    return last - first + 1


@kernel
def partition(keys, order, start, stop, middle):
    """Put the boxes with the least keys before ``middle``, all others behind (quickselect)."""
    low, high = start, stop - 1
    while low < high:
        pivot, left, right = keys[order[(low + high) // 2]], low, high
        while left <= right:
            while keys[order[left]] < pivot:
                left += 1
            while keys[order[right]] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            low = high
