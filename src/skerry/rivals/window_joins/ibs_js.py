"""IBS-JS: window-join queries that share a plan. One join for each condition, and IBS trees over what it gives.

Queries with the same condition on the join attributes share its join, over the longest window. Each joined tuple is a
point of all attributes and the age, and is looked up in the IBS trees of these queries. A window as long as the join's
has no end on the axis of ages, so that queries whose windows are all the same pay nothing for them.

    Chen, DeWitt, Tian, Wang: NiagaraCQ, 2000; as the rival of SJ-Join in Lim and others, 2006, section 7.4.
"""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.query_index.ibs_trees import IntervalTrees
from skerry.rivals.window_joins.join_queries import JoinQueries, Shape
from skerry.rivals.window_joins.joined_points import JoinedPoints
from skerry.rivals.window_joins.sliding_window import Elements

__all__ = ["SharedWindowJoin"]


Condition = tuple[int, int]


@dataclass
class _Group:
    """Queries of one condition."""

    trees: IntervalTrees
    queries: Int32s
    """By their numbers in the trees."""


class SharedWindowJoin:
    """Queries, numbered from 0, and the windows of both streams.

    >>> queries = JoinQueries(*(np.array(each) for each in ([[0], [0]], [[9], [9]], [[5], [5]], [[1], [1]])))
    >>> join = SharedWindowJoin(queries, Shape(left=1, right=1, on=(0, 0), spans=(10, 10)))
    >>> [[found.tolist() for found in join.arrive(*arrival)] for arrival in ((0, [7], 0), (0, [8], 1), (1, [7], 4))]
    [[[], []], [[], []], [[0], [0]]]
    """

    def __init__(self, queries: JoinQueries, shape: Shape) -> None:
        self._shape = shape
        self._windows = JoinedPoints(shape, (Elements(shape.left), Elements(shape.right)))
        lows, highs = queries.check(shape).shared_boxes(shape)
        kinds = list(zip(*queries.conditions.tolist(), strict=True))
        self._kinds = dict(enumerate(kinds))
        self._tree_numbers: dict[int, int] = {}
        self._groups: dict[Condition, _Group] = {}
        for kind in dict.fromkeys(kinds):
            alike = queries.conditions == np.array(kind)[:, None]
            chosen = np.flatnonzero(alike.all(axis=0)).astype(np.int32)
            self._groups[kind] = _Group(IntervalTrees(lows[:, chosen], highs[:, chosen]), chosen)
            self._tree_numbers |= {query: number for number, query in enumerate(chosen.tolist())}

    @property
    def nbytes(self) -> int:
        """How much memory the queries take."""
        return sum(group.trees.nbytes for group in self._groups.values())

    def add(self, query: JoinQueries) -> int:
        """Add one query; its number."""
        lows, highs = query.check(self._shape).shared_boxes(self._shape)
        number, kind = len(self._kinds), (int(query.conditions[0, 0]), int(query.conditions[1, 0]))
        none = np.empty((lows.shape[0], 0), np.int64)
        group = self._groups.setdefault(kind, _Group(IntervalTrees(none, none), np.empty(0, np.int32)))
        self._tree_numbers[number] = group.trees.add(lows[:, 0], highs[:, 0])
        group.queries = np.append(group.queries, np.int32(number))
        self._kinds[number] = kind
        return number

    def remove(self, query: int) -> None:
        """Remove a query."""
        self._groups[self._kinds[query]].trees.remove(self._tree_numbers.pop(query))

    def enter(self, side: int, point: Int64s, time: int) -> None:
        """Take an element in and ask nothing, as while windows fill."""
        self._windows.enter(side, point, time)

    def arrive(self, side: int, point: Int64s, time: int) -> tuple[Int64s, Int32s]:
        """Take an element in: pairs of an element of the other side, by its ordinal, and a query true for both."""
        ordinals, points, compared = self._windows.arrive(side, point, time)
        rows, queries = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
        for (first, last), group in self._groups.items():
            joined = np.flatnonzero((first <= compared) & (compared <= last))
            found, numbers = group.trees.match(points[:, joined])
            rows.append(ordinals[joined[found]])
            queries.append(group.queries[numbers])
        return np.concatenate(rows), np.concatenate(queries)
