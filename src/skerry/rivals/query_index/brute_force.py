"""Brute force: every point is compared with every box, several boxes at once."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s

__all__ = ["brute_force"]


_TILE = 1024


def brute_force(lows: Int64s, highs: Int64s, points: Int64s) -> tuple[Int32s, Int32s]:
    """The pairs of a point and a box that it is in, both by number, in no order. Arrays are axis by point or box.

    >>> rows, boxes = brute_force(np.array([[0, 5]]), np.array([[7, 9]]), np.array([[3, 6]]))
    >>> rows.tolist(), boxes.tolist()
    ([0, 1, 1], [0, 0, 1])
    """
    if lows.shape != highs.shape or lows.shape[0] != points.shape[0]:
        raise KernelError("boxes and points do not fit together:", lows.shape, highs.shape, points.shape)
    lows, highs, points = (np.ascontiguousarray(array, np.int64) for array in (lows, highs, points))
    box, filled, rows, found = 0, 0, np.empty(0, np.int32), np.empty(0, np.int32)
    while box < lows.shape[1]:
        likely = int(filled / box * 1.05 * lows.shape[1]) if box else 0
        size = max(2 * found.size, likely) + 2 * _TILE * points.shape[1]
        rows, found = grow_pairs(rows, found, filled, size)
        until = lows.shape[1] if box else _TILE
        box, filled = _brute_force(lows, highs, points, box, until, rows, found, filled)
    return rows[:filled], found[:filled]


@kernel
def _brute_force(lows, highs, points, first, until, rows, found, filled):
    """Test all points against as many boxes as stay in the processor's cache, then against the next."""
    inside = np.empty(_TILE, np.uint8)
    words = inside.view(np.uint64)
    while first < min(until, lows.shape[1]) and filled + _TILE * points.shape[1] <= found.size:
        size = min(_TILE, lows.shape[1] - first)
        for row in range(points.shape[1]):
            inside[:size] = 1
            inside[size:] = 0
            for axis in range(lows.shape[0]):
                code, low, high = points[axis, row], lows[axis, first : first + size], highs[axis, first : first + size]
                for box in range(size):
                    inside[box] &= np.uint8((low[box] <= code) & (code <= high[box]))
            before = filled
            for eight in range(words.size):
                if words[eight] != 0:
                    for box in range(8 * eight, min(8 * eight + 8, size)):
                        found[filled] = first + box
                        filled += int(inside[box])
            rows[before:filled] = row
        first += size
    return first, filled
