"""The points of one cluster as bits: those in a box are, on each axis, a run of points in order of that axis.

    in order of the axis      c  a  e  b  d
    a box holds                 [a  e  b]          the points before d, without those before a

So a box costs two ranks and a few words per axis, however many points the cluster has. A rank is looked up by the cell
of the end, which the grid file knows, and then among the points of this cell.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels._reference import inlined_kernel
from skerry.kernels.bits import lowest_bit
from skerry.kernels.index.grid import cell_of
from skerry.model.arrays import Int32s, Int64s, UInt64s

__all__ = ["RankedPoints", "make_ranked_points", "mark_inside", "sort_axis", "write_points"]


class RankedPoints(NamedTuple):
    """The points of one cluster, ranked on each axis. The arrays are used for one cluster after the other."""

    codes: Int64s
    """Axis by rank."""
    firsts: Int32s
    """Axis by cell: the rank of the first point that is in it or behind it."""
    before: UInt64s
    """Axis by rank by word: bits of the points with lower ranks."""


def make_ranked_points(axes: int, cluster: int, cells: int) -> RankedPoints:
    """Empty arrays for clusters of so many points.

    >>> ranked, bits = make_ranked_points(axes=1, cluster=3, cells=4), np.empty(1, np.uint64)
    >>> sort_axis(ranked, 0, np.array([15, 32, 11]), np.array([-(2**63), 10, 20, 30]), 4)
    >>> ends, cells = np.array([[[12], [40]]]), np.array([[[1], [3]]])
    >>> mark_inside(ranked, ends, cells, 0, 0, np.array([0]), bits), bits.tolist()
    (True, [3])
    """
    words = (cluster + 63) // 64
    return RankedPoints(
        np.empty((axes, cluster), np.int64),
        np.empty((axes, cells + 1), np.int32),
        np.zeros((axes, cluster + 1, words), np.uint64),
    )


@kernel
def sort_axis(ranked, axis, codes, starts, count):
    """Put the points of a cluster in order of an axis, on which they have these codes. Cells are those of a grid."""
    order, size, cell = np.argsort(codes), codes.size, 0
    for rank in range(size):
        point = order[rank]
        ranked.codes[axis, rank] = codes[point]
        ranked.before[axis, rank + 1] = ranked.before[axis, rank]
        ranked.before[axis, rank + 1, point >> 6] |= np.uint64(1) << np.uint64(point & 63)
        own = cell_of(starts, count, codes[point])
        while cell <= own:
            ranked.firsts[axis, cell] = rank
            cell += 1
    ranked.firsts[axis, cell:] = size


@inlined_kernel
def mark_inside(ranked, ends, cells, page, slot, axes, bits):
    """Mark the points that are in a box of a grid file, on some axes; whether there are any."""
    any_bits = np.uint64(0)
    for row in range(axes.size):
        axis, opposite = axes[row], axes[row] + ends.shape[1] // 2
        low, high = ends[page, axis, slot], ends[page, opposite, slot]
        begin, end = (
            _count_below(ranked, row, cells[page, axis, slot], low),
            _count_up_to(ranked, row, cells[page, opposite, slot], high),
        )
        any_bits = np.uint64(0)
        if begin < end:
            for word in range(bits.size):
                run = ranked.before[row, end, word] & ~ranked.before[row, begin, word]
                bits[word] = run if row == 0 else bits[word] & run
                any_bits |= bits[word]
        if any_bits == 0:
            break
    return any_bits != 0


@inlined_kernel
def _count_below(ranked, axis, cell, code):
    """How many points have a code below one of this cell."""
    rank, stop = ranked.firsts[axis, cell], ranked.firsts[axis, cell + 1]
    while rank < stop and ranked.codes[axis, rank] < code:
        rank += 1
    return rank


@inlined_kernel
def _count_up_to(ranked, axis, cell, code):
    """How many points have a code up to one of this cell."""
    rank, stop = ranked.firsts[axis, cell], ranked.firsts[axis, cell + 1]
    while rank < stop and ranked.codes[axis, stop - 1] > code:
        stop -= 1
    return stop


@inlined_kernel
def write_points(bits, order, start, box, rows, found, filled):
    """Write a pair for each point that is marked; how many pairs there are then."""
    for word in range(bits.size):
        left = bits[word]
        while left:
            rows[filled] = order[start + (word << 6) + lowest_bit(left)]
            found[filled] = box
            filled += 1
            left &= left - np.uint64(1)
    return filled
