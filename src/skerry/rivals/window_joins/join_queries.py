"""Window-join queries over two streams as boxes of pairs: attributes of both, and the age of the older element.

    left attributes │ right attributes │ age

The younger element of a pair has just come. The age is that of the right element, or minus that of the left one, so
that one interval says how long the query keeps the elements of either side.

How the join attributes must compare is no box. In their plane an equality is a diagonal, and an order the triangle
on one side of it. Cut along the left join attribute, it is a few boxes that bound it closely (object decomposition):

         │      ┌─┐          x = y, cut at three codes; what
       y │    ┌─┴─┘          is in a box and off the diagonal
         │  ┌─┴─┘            goes when the pair is refined
         │┌─┴─┘
         └┴─────────  x

    Lim, Lee, Lee, Whang, Song: Continuous Query Processing in Data Streams Using Duality of Data and Queries, 2006.
"""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.model.arrays import Int32s, Int64s

__all__ = ["ANY", "COMPARISONS", "EQUAL", "LESS", "MORE", "UNKNOWN", "JoinQueries", "Shape", "compare_codes"]


LESS, EQUAL, MORE, UNKNOWN = range(4)
"""How the left join attribute compares with the right one. With NULL, whose code is the least, it does not."""
COMPARISONS = {"<": (LESS, LESS), "<=": (LESS, EQUAL), "=": (EQUAL, EQUAL), ">=": (EQUAL, MORE), ">": (MORE, MORE)}
"""The outcomes that make a condition true, from first to last."""
ANY = (LESS, UNKNOWN)
"""No condition."""


class Shape(NamedTuple):
    """What all queries have in common."""

    left: int
    """How many attributes the left stream has."""
    right: int
    on: tuple[int, int]
    """The join attributes, each counted within its stream."""
    spans: tuple[int, int]
    """How old an element of either side may at most be, for any query; ages are whole numbers below that."""

    @property
    def joined(self) -> tuple[int, int]:
        """The axes of the join attributes."""
        return self.on[0], self.left + self.on[1]


class JoinQueries(NamedTuple):
    """Queries, by number."""

    lows: Int64s
    """Axis by query: attributes of the left stream, then those of the right."""
    highs: Int64s
    windows: Int64s
    """Side by query: how long elements of the left and of the right stream are kept. At least 1."""
    conditions: Int64s
    """The first and the last outcome that is true, by query."""

    def check(self, shape: Shape) -> "JoinQueries":
        """Refuse queries that do not fit together; these queries otherwise."""
        count, axes = self.lows.shape[1], shape.left + shape.right
        shapes = [array.shape for array in self]
        if shapes != [(axes, count), (axes, count), (2, count), (2, count)]:
            raise KernelError("queries do not fit together:", *shapes)
        if ((self.windows < 1) | (self.windows > np.array(shape.spans)[:, None])).any():
            raise KernelError("windows must be between 1 and", shape.spans)
        return self

    def boxes(self) -> tuple[Int64s, Int64s]:
        """Lows and highs with the age as the last axis.

        >>> queries = JoinQueries(*(np.array(each) for each in ([[0], [2]], [[9], [5]], [[10], [20]], [[0], [3]])))
        >>> [ends.ravel().tolist() for ends in queries.boxes()]
        [[0, 2, -9], [9, 5, 19]]
        """
        return np.concatenate([self.lows, 1 - self.windows[:1]]), np.concatenate([self.highs, self.windows[1:] - 1])

    def shared_boxes(self, shape: Shape) -> tuple[Int64s, Int64s]:
        """The same for a join over the longest windows: where a query's is as long, the age has no end."""
        lows, highs = self.boxes()
        lows[-1, self.windows[0] == shape.spans[0]] = LEAST
        highs[-1, self.windows[1] == shape.spans[1]] = GREATEST
        return lows, highs

    def pieces(self, shape: Shape, cuts: Int64s) -> tuple[Int64s, Int64s, Int32s]:
        """Boxes around the pieces of each query, cut where the left join attribute is a code of ``cuts``; its owners.

        No pair is in two pieces of a query. Pieces in which nothing can be are left out.
        """
        lows, highs = _narrow(*self.boxes(), self.conditions, shape)
        begins, ends = np.concatenate([[LEAST], cuts]), np.concatenate([cuts - 1, [GREATEST]])
        axis, free = shape.joined[0], self.conditions[1] == UNKNOWN
        found = []
        for piece, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            low, high = lows.copy(), highs.copy()
            low[axis] = np.where(free, low[axis], np.maximum(low[axis], begin))
            high[axis] = np.where(free, high[axis], np.minimum(high[axis], end))
            low, high = _narrow(low, high, self.conditions, shape)
            held = np.flatnonzero((low <= high).all(axis=0) & ~(free & (piece > 0)))
            found.append((low[:, held], high[:, held], held.astype(np.int32)))
        piled_lows, piled_highs, owners = zip(*found, strict=True)
        return np.concatenate(piled_lows, axis=1), np.concatenate(piled_highs, axis=1), np.concatenate(owners)


def _narrow(lows: Int64s, highs: Int64s, conditions: Int64s, shape: Shape) -> tuple[Int64s, Int64s]:
    """Boxes no wider on the join axes than their conditions let them be. A wrap-around narrows nothing."""
    lows, highs, (x, y), (first, last) = lows.copy(), highs.copy(), shape.joined, conditions
    compared, at_most, at_least = last < UNKNOWN, last <= EQUAL, (first >= EQUAL) & (last < UNKNOWN)
    for axis in (x, y):
        lows[axis] = np.where(compared, np.maximum(lows[axis], LEAST + 1), lows[axis])
    for below, above, applies, strict in ((x, y, at_most, last == LESS), (y, x, at_least, first == MORE)):
        highs[below] = np.where(applies, np.minimum(highs[below], highs[above] - strict), highs[below])
        lows[above] = np.where(applies, np.maximum(lows[above], lows[below] + strict), lows[above])
    return lows, highs


def compare_codes(left: Int64s, right: Int64s) -> Int64s:
    """How codes of join attributes compare, pair by pair.

    >>> compare_codes(np.array([3, 4, 5, LEAST]), np.array([4, 4, 4, LEAST])).tolist()
    [0, 1, 2, 3]
    """
    found = np.empty(np.broadcast(left, right).size, np.int64)
    _compare_codes(np.broadcast_to(left, found.shape), np.broadcast_to(right, found.shape), found)
    return found


@kernel
def _compare_codes(left, right, found):
    for pair in range(found.size):
        if left[pair] == LEAST or right[pair] == LEAST:
            found[pair] = UNKNOWN
        else:
            found[pair] = 1 + np.int64(left[pair] > right[pair]) - np.int64(left[pair] < right[pair])
