"""SJ-Join: window-join queries by Spatial Join CQ, every pair of an arrival and an element of the other window a point.

    Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006,
    section 6.

The elements of the window are read along Hilbert's curve and cut into clusters. The pieces of queries that overlap the
bounds of a cluster's pairs, on all attributes and the age, are retrieved from the grid file at once, by their spatial
join window; each is tested against the pairs, and refined by its condition on the join attributes.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import Grid, build_grid
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.grid_file_pages import PAGE, search
from skerry.rivals.query_index.hilbert_curve import curve_bits
from skerry.rivals.query_index.points_in_boxes import make_ranked_points, mark_inside, sort_axis, write_points
from skerry.rivals.window_joins.join_queries import UNKNOWN, JoinQueries, Shape
from skerry.rivals.window_joins.joined_points import LEFT, JoinedPoints
from skerry.rivals.window_joins.sliding_window import NearbyElements

__all__ = ["SpatialWindowJoin"]


class SpatialWindowJoin:
    """Queries, numbered from 0, and the windows of both streams.

    ``cuts`` are the codes at which conditions are cut along the left join attribute; ``cluster`` is N_dc. A query
    that comes while elements are there finds those that are left.

    >>> shape = Shape(left=1, right=1, on=(0, 0), spans=(10, 10))
    >>> queries = JoinQueries(*(np.array(each) for each in ([[0], [0]], [[9], [9]], [[5], [5]], [[1], [1]])))
    >>> join = SpatialWindowJoin(queries, shape, cuts=np.array([3, 6]), cluster=4)
    >>> [[found.tolist() for found in join.arrive(*arrival)] for arrival in ((0, [7], 0), (0, [8], 1), (1, [7], 4))]
    [[[], []], [[], []], [[0], [0]]]
    """

    def __init__(self, queries: JoinQueries, shape: Shape, cuts: Int64s, cluster: int) -> None:
        lows, highs, self._owners = queries.check(shape).pieces(shape, cuts)
        self._shape, self._cuts, self._cluster = shape, np.asarray(cuts, np.int64), cluster
        self._conditions = np.array(queries.conditions.T, np.int64)
        self._file = GridFile(lows, highs)
        self._boxes: dict[int, list[int]] = {query: [] for query in range(queries.lows.shape[1])}
        for box, owner in enumerate(self._owners.tolist()):
            self._boxes[owner].append(box)
        left, right = _grids(queries, shape)
        self._windows = JoinedPoints(shape, (NearbyElements(left), NearbyElements(right)))

    @property
    def nbytes(self) -> int:
        """How much memory the queries take."""
        return self._file.nbytes + self._owners.nbytes + self._conditions.nbytes

    def add(self, query: JoinQueries) -> int:
        """Add one query; its number."""
        number = len(self._conditions)
        lows, highs, owners = query.check(self._shape).pieces(self._shape, self._cuts)
        self._boxes[number] = [self._file.add(low, high) for low, high in zip(lows.T, highs.T, strict=True)]
        self._owners = np.concatenate([self._owners, owners + np.int32(number)])
        self._conditions = np.concatenate([self._conditions, query.conditions.T])
        return number

    def remove(self, query: int) -> None:
        """Remove a query."""
        for box in self._boxes.pop(query):
            self._file.remove(box)

    def enter(self, side: int, point: Int64s, time: int) -> None:
        """Take an element in and ask nothing, as while windows fill."""
        self._windows.enter(side, point, time)

    def arrive(self, side: int, point: Int64s, time: int) -> tuple[Int64s, Int32s]:
        """Take an element in: pairs of an element of the other side, by its ordinal, and a query true for both."""
        ordinals, points, compared = self._windows.arrive(side, point, time)
        attributes = np.arange(self._shape.left + self._shape.right)
        theirs = attributes[self._shape.left :] if side == LEFT else attributes[: self._shape.left]
        axes, (grid, file) = np.append(theirs, attributes.size), self._file.parts()
        ranked = make_ranked_points(axes.size, self._cluster, grid.cells)
        rows, found, start, filled, lacking = np.empty(0, np.int32), np.empty(0, np.int32), 0, 0, 0
        while start < ordinals.size:
            likely = int(filled / start * 1.1 * ordinals.size) if start else 0
            rows, found = grow_pairs(rows, found, filled, max(likely, found.size) + lacking)
            queries, pairs = (self._owners, self._conditions), (points, compared)
            start, filled, lacking = _join_while_room(
                grid, file, queries, pairs, axes, ranked, start, rows, found, filled
            )
        return ordinals[rows[:filled]], found[:filled]


def _grids(queries: JoinQueries, shape: Shape) -> tuple[Grid, Grid]:
    """The cells of either stream's attributes, by where queries end."""
    left, right = (
        build_grid(queries.lows[axes], queries.highs[axes], 2 ** curve_bits(queries.lows[axes].shape[0]))
        for axes in (slice(0, shape.left), slice(shape.left, None))
    )
    return left, right


@kernel
def _join_while_room(grid, file, queries, pairs, axes, ranked, start, rows, found, filled):
    """Join clusters from one on while there is room: the pair and the answers reached, and what room is lacking.

    Some axes are tested: on all others a cluster is one point, and boxes that overlap it hold it.
    """
    (owners, conditions), (points, compared), cluster = queries, pairs, ranked.codes.shape[1]
    positions, overlapping = np.arange(compared.size), np.empty(file.bounds.shape[0], np.int32)
    low, high = np.empty(points.shape[0], np.int64), np.empty(points.shape[0], np.int64)
    bits, up_to = (
        np.empty(ranked.before.shape[2], np.uint64),
        np.zeros((UNKNOWN + 2, ranked.before.shape[2]), np.uint64),
    )
    while start < compared.size:
        stop = min(start + cluster, compared.size)
        for axis in range(low.size):
            low[axis], high[axis] = points[axis, start:stop].min(), points[axis, start:stop].max()
        count = search(grid.starts, grid.counts, file, low, high, overlapping)
        if filled + count * (stop - start) > found.size:
            return start, filled, count * (stop - start)
        for row in range(axes.size):
            axis = axes[row]
            sort_axis(ranked, row, points[axis, start:stop], grid.starts[axis], grid.counts[axis])
        _mark_outcomes(compared[start:stop], up_to)
        for position in overlapping[:count]:
            page, slot = position // PAGE, position % PAGE
            if mark_inside(ranked, file.ends, file.cells, page, slot, axes, bits):
                query = owners[file.members[page, slot]]
                for word in range(bits.size):
                    bits[word] &= up_to[conditions[query, 1] + 1, word] & ~up_to[conditions[query, 0], word]
                filled = write_points(bits, positions, start, query, rows, found, filled)
        start = stop
    return start, filled, 0


@kernel
def _mark_outcomes(compared, up_to):
    """For each outcome, and behind the last, the pairs with outcomes before it."""
    up_to[:] = 0
    for pair in range(compared.size):
        for outcome in range(compared[pair] + 1, up_to.shape[0]):
            up_to[outcome, pair >> 6] |= np.uint64(1) << np.uint64(pair & 63)
