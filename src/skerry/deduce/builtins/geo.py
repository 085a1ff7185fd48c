"""Built-ins that are always there, ``"geo:dist"`` and the like: about points and trajectories.

A point is a list of two numbers; a report is a list ``[x, y, t]``; a trajectory is a list of reports.
"""

import math
from itertools import pairwise

from skerry.model.term import Value

__all__ = ["close", "dist", "is_parallel", "length", "near"]


def dist(first: Value, second: Value) -> float | None:
    """How far two points are from each other.

    >>> dist((0.0, 0.0), (3.0, 4.0))
    5.0
    """
    here, there = _numbers(first), _numbers(second)
    return None if here is None or there is None else math.dist(here[:2], there[:2])


def near(first: Value, second: Value, most: Value) -> bool | None:
    """Whether two points are at most so far from each other.

    >>> near((0.0, 0.0), (3.0, 4.0), 5)
    True
    """
    far = dist(first, second)
    return None if far is None or not isinstance(most, int | float) else far <= most


def close(first: Value, second: Value) -> bool | None:
    """Whether a report can follow another on a trajectory: later by at most 10, and at most 5 away.

    >>> close((0, 0, 1), (3, 4, 2)), close((3, 4, 2), (0, 0, 1))
    (True, False)
    """
    here, there = _numbers(first), _numbers(second)
    if here is None or there is None or len(here) < 3 or len(there) < 3:
        return None
    return 0 < there[2] - here[2] <= 10 and math.dist(here[:2], there[:2]) <= 5


def length(trajectory: Value) -> float | None:
    """How long a trajectory is, from its first report to its last.

    >>> length(((0, 0, 1), (3, 4, 2), (3, 5, 3)))
    6.0
    """
    points = _path(trajectory)
    if points is None:
        return None
    return math.fsum(math.dist(here, there) for here, there in pairwise(points))


def is_parallel(first: Value, second: Value) -> bool | None:
    """Whether two trajectories lead the same way, within a tenth of a turn, and are not one.

    >>> is_parallel(((0, 0, 1), (5, 0, 2)), ((0, 3, 1), (5, 3, 2)))
    True
    >>> is_parallel(((0, 0, 1), (5, 0, 2)), ((0, 3, 1), (0, 8, 2)))
    False
    """
    one, other = _path(first), _path(second)
    if not one or not other:
        return None
    turn = abs(_direction(one) - _direction(other)) % math.tau
    return first != second and min(turn, math.tau - turn) <= math.tau / 10


def _direction(points: list[tuple[float, ...]]) -> float:
    (x, y), (to_x, to_y) = points[0], points[-1]
    return math.atan2(to_y - y, to_x - x)


def _path(trajectory: Value) -> list[tuple[float, ...]] | None:
    if not isinstance(trajectory, tuple):
        return None
    reports = [_numbers(report) for report in trajectory]
    return None if None in reports else [report[:2] for report in reports if report is not None]


def _numbers(value: Value) -> tuple[float, ...] | None:
    """A list of at least two numbers, or None."""
    if not isinstance(value, tuple) or len(value) < 2:
        return None
    numbers = tuple(float(each) for each in value if isinstance(each, int | float))
    return numbers if len(numbers) == len(value) else None
