"""The order of points along Hilbert's curve, which passes from neighbour to neighbour.

Skilling: Programming the Hilbert curve, 2004.
"""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int32s, Int64s

__all__ = ["CURVE_AXES", "curve_bits", "hilbert_keys"]


CURVE_AXES = 63
"""A position on the curve is a number of so many bits, and needs one for each axis."""
_MOST_BITS = 8


def curve_bits(axes: int) -> int:
    """How many bits per axis a curve over so many axes, or over the first of them, can have.

    >>> curve_bits(4), curve_bits(20), curve_bits(70)
    (8, 3, 1)
    """
    return min(_MOST_BITS, CURVE_AXES // min(axes, CURVE_AXES))


def hilbert_keys(cells: Int32s, bits: int) -> Int64s:
    """The position on the curve of each cell, axis by point, of a cube with ``2 ** bits`` cells per axis.

    >>> hilbert_keys(np.array([[0, 0, 1, 1], [0, 1, 1, 0]], np.int32), 1).tolist()
    [0, 1, 2, 3]
    """
    if not 0 < bits * cells.shape[0] <= CURVE_AXES:
        raise KernelError("axes times bits must lie between 1 and 63, got", cells.shape[0], bits)
    return _keys(np.ascontiguousarray(cells, np.int32), bits)


@kernel
def _keys(cells, bits):
    axes = cells.shape[0]
    keys, turned = np.empty(cells.shape[1], np.int64), np.empty(axes, np.int64)
    for point in range(keys.size):
        for axis in range(axes):
            turned[axis] = cells[axis, point]
        _turn(turned, bits)
        key = 0
        for bit in range(bits - 1, -1, -1):
            for axis in range(axes):
                key = (key << 1) | ((turned[axis] >> bit) & 1)
        keys[point] = key
    return keys


@kernel
def _turn(turned, bits):
    """Undo, level by level, the turns that the curve has made; then Gray code."""
    axes = turned.size
    bit = 1 << (bits - 1)
    while bit > 1:
        below = bit - 1
        for axis in range(axes):
            if turned[axis] & bit:
                turned[0] ^= below
            else:
                swapped = (turned[0] ^ turned[axis]) & below
                turned[0] ^= swapped
                turned[axis] ^= swapped
        bit >>= 1
    for axis in range(1, axes):
        turned[axis] ^= turned[axis - 1]
    flips, bit = 0, 1 << (bits - 1)
    while bit > 1:
        if turned[axes - 1] & bit:
            flips ^= bit - 1
        bit >>= 1
    for axis in range(axes):
        turned[axis] ^= flips
