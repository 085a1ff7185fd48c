"""Pairs of an arrival and the elements of the other stream's window, as points where join queries are boxes."""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.model.arrays import Int64s
from skerry.rivals.window_joins.join_queries import Shape, compare_codes
from skerry.rivals.window_joins.sliding_window import Elements

__all__ = ["LEFT", "RIGHT", "Joinable", "JoinedPoints"]


LEFT, RIGHT = range(2)


class Joinable(NamedTuple):
    """What an arrival can be joined with."""

    ordinals: Int64s
    """Elements of the other side, in the order of its window."""
    points: Int64s
    """Axis by pair: attributes of the left stream, those of the right, and the age."""
    outcomes: Int64s
    """How the join attributes compare."""


class JoinedPoints:
    """The windows of two streams.

    >>> windows = JoinedPoints(Shape(left=1, right=1, on=(0, 0), spans=(10, 10)), (Elements(1), Elements(1)))
    >>> windows.enter(LEFT, np.array([7]), 0)
    >>> ordinals, points, compared = windows.arrive(RIGHT, np.array([9]), 4)
    >>> ordinals.tolist(), points.ravel().tolist(), compared.tolist()
    ([0], [7, 9, -4], [0])
    """

    def __init__(self, shape: Shape, windows: tuple[Elements, Elements]) -> None:
        self._shape, self._windows = shape, windows
        self._time: int | None = None

    def enter(self, side: int, point: Int64s, time: int) -> None:
        """Let go what is too old for any query, and take an element in."""
        if self._time is not None and time < self._time:
            raise KernelError("an element comes before the last one:", time, self._time)
        self._time = time
        for window, span in zip(self._windows, self._shape.spans, strict=True):
            window.expire(time - span + 1)
        self._windows[side].insert(point, time)

    def arrive(self, side: int, point: Int64s, time: int) -> Joinable:
        """The same, and what the element can be joined with."""
        self.enter(side, point, time)
        return self._find_joinable(side, np.asarray(point, np.int64), time)

    def _find_joinable(self, side: int, point: Int64s, time: int) -> Joinable:
        others = self._windows[1 - side]
        ordinals = others.ordinals
        mine, theirs = np.repeat(point[:, None], ordinals.size, axis=1), others.points_of(ordinals)
        ages = time - others.times_of(ordinals)[None]
        points = np.concatenate((mine, theirs, ages) if side == LEFT else (theirs, mine, -ages))
        x, y = self._shape.joined
        return Joinable(ordinals, points, compare_codes(points[x], points[y]))
