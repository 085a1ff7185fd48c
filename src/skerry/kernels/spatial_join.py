"""Spatial Join CQ: points in clusters along Hilbert's curve, joined with the boxes of a grid file.

    Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006.

A batch is sorted along the curve and cut into clusters. The boxes that overlap the bounds of a cluster are
retrieved at once, by its spatial join window, and each is tested against the points of the cluster. Immediate
processing is the same with one point a cluster, and no sorting.
"""

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels.grid import cells_of, grid_over
from skerry.kernels.gridpages import search
from skerry.kernels.hilbert import hilbert_keys
from skerry.kernels.mlgf import GridFile
from skerry.kernels.pairs import Int32s, roomier

__all__ = ["join_batch", "join_immediately"]

Int64s = npt.NDArray[np.int64]

_MOST_BITS = 8


def join_immediately(boxes: GridFile, points: Int64s) -> tuple[Int32s, Int32s]:
    """SJ-Immediate: the pairs of a point and a box that it is in, point by point.

    >>> rows, found = join_immediately(GridFile(np.array([[0, 5]]), np.array([[7, 9]])), np.array([[3, 6]]))
    >>> sorted(zip(rows.tolist(), found.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    """
    return _joined(boxes, points, np.arange(points.shape[1]), 1)


def join_batch(boxes: GridFile, points: Int64s, cluster: int) -> tuple[Int32s, Int32s]:
    """SJ-Batch: the pairs of a point and a box that it is in, ``cluster`` points at a time (N_dc); in no order."""
    leading = points[:63]
    bits = min(_MOST_BITS, 63 // leading.shape[0])
    cells = cells_of(grid_over(leading, leading, 2**bits), leading)
    return _joined(boxes, points, np.argsort(hilbert_keys(cells, bits), kind="stable"), cluster)


def _joined(boxes: GridFile, points: Int64s, order: Int64s, cluster: int) -> tuple[Int32s, Int32s]:
    points = np.ascontiguousarray(points, np.int64)
    rows, found, start, filled = np.empty(0, np.int32), np.empty(0, np.int32), 0, 0
    while start < order.size:
        likely = int(filled / start * 1.1 * order.size) if start else 0
        size = max(likely, 2 * found.size) + 2 * cluster * boxes.bounds.shape[0]
        rows, found = roomier(rows, found, filled, size)
        until = order.size if start else min(order.size, 4 * cluster)
        grid, file = boxes.parts()
        start, filled = _join(*grid, file, points, order, cluster, start, until, rows, found, filled)
    return rows[:filled], found[:filled]


@kernel
def _join(starts, counts, file, points, order, cluster, start, until, rows, found, filled):
    """Join clusters from one on, as long as there is room; the point and the pairs reached."""
    axes = points.shape[0]
    overlapping = np.empty(file.bounds.shape[0], np.int32)
    inside = np.empty(cluster, np.uint8)
    near = np.empty((axes, cluster), np.int64)
    low, high = np.empty(axes, np.int64), np.empty(axes, np.int64)
    while start < until and filled + cluster * overlapping.size <= found.size:
        size = min(cluster, order.size - start)
        for axis in range(axes):
            for place in range(size):
                near[axis, place] = points[axis, order[start + place]]
            low[axis], high[axis] = near[axis, :size].min(), near[axis, :size].max()
        count = search(starts, counts, file, low, high, overlapping)
        for candidate in range(count):
            box = overlapping[candidate]
            if size > 1:
                _test(file.bounds[box], near, size, inside)
                for place in range(size):
                    rows[filled] = order[start + place]
                    found[filled] = box
                    filled += inside[place]
            else:
                rows[filled] = order[start]
                found[filled] = box
                filled += 1
        start += size
    return start, filled


@kernel
def _test(bound, near, size, inside):
    """Which points of a cluster are in a box."""
    axes = near.shape[0]
    for place in range(size):
        inside[place] = 1
    for axis in range(axes):
        low, high = bound[axis], bound[axes + axis]
        for place in range(size):
            inside[place] &= np.uint8((low <= near[axis, place]) & (near[axis, place] <= high))
