"""Spatial Join CQ: points in clusters along Hilbert's curve, joined with the boxes of a grid file.

    Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006.

A batch is sorted along the curve and cut into clusters. The boxes that overlap the bounds of a cluster are
retrieved at once, by its spatial join window, and each is tested against all points of the cluster, as bits. Immediate
processing is the same with one point per cluster, and no sorting.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import build_grid, cells_of
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.grid_file_pages import PAGE, search
from skerry.rivals.query_index.hilbert_curve import CURVE_AXES, curve_bits, hilbert_keys
from skerry.rivals.query_index.points_in_boxes import make_ranked_points, mark_inside, sort_axis, write_points

__all__ = ["join_batch", "join_immediately"]


def join_immediately(boxes: GridFile, points: Int64s) -> tuple[Int32s, Int32s]:
    """SJ-Immediate: the pairs of a point and a box that it is in, point by point.

    >>> rows, found = join_immediately(GridFile(np.array([[0, 5]]), np.array([[7, 9]])), np.array([[3, 6]]))
    >>> sorted(zip(rows.tolist(), found.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    """
    return _join_clusters(boxes, points, np.arange(points.shape[1]), 1)


def join_batch(boxes: GridFile, points: Int64s, cluster: int) -> tuple[Int32s, Int32s]:
    """SJ-Batch: the pairs of a point and a box that it is in, ``cluster`` points at a time (N_dc); in no order."""
    leading, bits = points[:CURVE_AXES], curve_bits(points.shape[0])
    cells = cells_of(build_grid(leading, leading, 2**bits), leading)
    return _join_clusters(boxes, points, np.argsort(hilbert_keys(cells, bits), kind="stable"), cluster)


def _join_clusters(boxes: GridFile, points: Int64s, order: Int64s, cluster: int) -> tuple[Int32s, Int32s]:
    points = np.ascontiguousarray(points, np.int64)
    grid, file = boxes.parts()
    ranked = make_ranked_points(points.shape[0], cluster, grid.cells)
    rows, found, start, filled, lacking = np.empty(0, np.int32), np.empty(0, np.int32), 0, 0, 0
    while start < order.size:
        likely = int(filled / start * 1.1 * order.size) if start else 0
        rows, found = grow_pairs(rows, found, filled, max(likely, found.size) + lacking)
        start, filled, lacking = _join_while_room(
            grid, file, points, order, cluster, ranked, start, rows, found, filled
        )
    return rows[:filled], found[:filled]


@kernel
def _join_while_room(grid, file, points, order, cluster, ranked, start, rows, found, filled):
    """Join clusters from one on while there is room: the point and the pairs reached, and what room is lacking."""
    axes = np.arange(points.shape[0])
    overlapping = np.empty(file.bounds.shape[0], np.int32)
    low, high = np.empty(axes.size, np.int64), np.empty(axes.size, np.int64)
    bits = np.empty(ranked.before.shape[2], np.uint64)
    while start < order.size:
        some = order[start : start + cluster]
        for axis in axes:
            codes = points[axis][some]
            low[axis], high[axis] = codes.min(), codes.max()
            if cluster > 1:
                sort_axis(ranked, axis, codes, grid.starts[axis], grid.counts[axis])
        count = search(grid.starts, grid.counts, file, low, high, overlapping)
        if filled + count * some.size > found.size:
            return start, filled, count * some.size
        if cluster > 1:
            for position in overlapping[:count]:
                page, slot = position // PAGE, position % PAGE
                if mark_inside(ranked, file.ends, file.cells, page, slot, axes, bits):
                    filled = write_points(bits, order, start, file.members[page, slot], rows, found, filled)
        else:
            for position in overlapping[:count]:
                rows[filled] = order[start]
                found[filled] = file.members[position // PAGE, position % PAGE]
                filled += 1
        start += some.size
    return start, filled, 0
