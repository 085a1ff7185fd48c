"""Window-join queries by the index that ships: one shared join, and each joined tuple a point of one index of boxes.

How the join attributes compare is an axis like others: less, equal and greater stand in order on it, so that every
condition is an interval, and one index has the queries of all conditions.
"""

import numpy as np

from skerry.index.box_index import BoxIndex
from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.window_joins.join_queries import JoinQueries, Shape
from skerry.rivals.window_joins.joined_points import JoinedPoints
from skerry.rivals.window_joins.sliding_window import Elements

__all__ = ["IndexedWindowJoin"]


class IndexedWindowJoin:
    """Queries, numbered from 0, and the windows of both streams.

    >>> queries = JoinQueries(*(np.array(each) for each in ([[0], [0]], [[9], [9]], [[5], [5]], [[1], [1]])))
    >>> join = IndexedWindowJoin(queries, Shape(left=1, right=1, on=(0, 0), spans=(10, 10)))
    >>> [[found.tolist() for found in join.arrive(*arrival)] for arrival in ((0, [7], 0), (0, [8], 1), (1, [7], 4))]
    [[[], []], [[], []], [[0], [0]]]
    """

    def __init__(self, queries: JoinQueries, shape: Shape) -> None:
        self._shape, self._next = shape, queries.lows.shape[1]
        self._windows = JoinedPoints(shape, (Elements(shape.left), Elements(shape.right)))
        self._index = BoxIndex.of(*self._boxes(queries))

    @property
    def nbytes(self) -> int:
        """How much memory the queries take."""
        return self._index.nbytes

    def add(self, query: JoinQueries) -> int:
        """Add one query; its number."""
        lows, highs = self._boxes(query)
        ends = zip(lows[:, 0].tolist(), highs[:, 0].tolist(), strict=True)
        self._index.add(self._next, dict(enumerate(ends)))
        self._next += 1
        return self._next - 1

    def remove(self, query: int) -> None:
        """Remove a query."""
        self._index.remove(query)

    def enter(self, side: int, point: Int64s, time: int) -> None:
        """Take an element in and ask nothing, as while windows fill."""
        self._windows.enter(side, point, time)

    def arrive(self, side: int, point: Int64s, time: int) -> tuple[Int64s, Int32s]:
        """Take an element in: pairs of an element of the other side, by its ordinal, and a query true for both."""
        ordinals, points, outcomes = self._windows.arrive(side, point, time)
        rows, queries = self._index.match(np.concatenate([points, outcomes[None]]))
        return ordinals[rows], queries

    def _boxes(self, queries: JoinQueries) -> tuple[Int64s, Int64s]:
        lows, highs = queries.check(self._shape).shared_boxes(self._shape)
        return np.concatenate([lows, queries.conditions[:1]]), np.concatenate([highs, queries.conditions[1:]])
