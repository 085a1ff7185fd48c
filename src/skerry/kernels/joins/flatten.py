"""Flattened answers of a gather: every way to choose one member of each sensor from a list.

The first member of a list is in each combination, and its sensor has no other.

    a9 | b8 c7 b5 c4      ──►   a9 b8 c7   a9 b8 c4   a9 c7 b5   a9 b5 c4
"""

from dataclasses import dataclass

import numpy as np

from skerry.errors import KernelError, LimitError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["Combinations", "flatten_lists"]


_MOST_MEMBERS = 2**31 - 1
"""As many as the offsets of a list column can count."""


@dataclass(frozen=True)
class Combinations:
    """Combination i is of list ``lists[i]`` and has the members ``members[offsets[i]:offsets[i + 1]]``."""

    lists: Int64s
    offsets: Int64s
    members: Int64s


def flatten_lists(offsets: Int64s, sensors: Int64s, sensor_count: int, limit: int) -> Combinations:
    """Spell out the lists ``sensors[offsets[i]:offsets[i + 1]]``, none of which is empty.

    Members keep their order. More than ``limit`` combinations are found by counting, not by writing them.

    >>> found = flatten_lists(np.array([0, 4]), np.array([0, 1, 2, 1]), sensor_count=3, limit=9)
    >>> found.offsets.tolist(), found.members.tolist()
    ([0, 3, 6], [0, 1, 2, 0, 2, 3])
    """
    if offsets[-1] != sensors.size or (sensors.size and not 0 <= sensors.min() <= sensors.max() < sensor_count):
        raise KernelError("lists of", offsets[-1], "members, and", sensors.size, "members of", sensor_count, "sensors")
    counts, arities, total = _count(offsets, sensors, sensor_count, limit)
    if total < 0:
        raise LimitError("a view that flattens would give more than", limit, "rows at once")
    if counts.astype(np.float64) @ arities > _MOST_MEMBERS:
        raise LimitError("a view that flattens would give more than", _MOST_MEMBERS, "members at once")
    members = np.empty(counts @ arities, np.int64)
    _write(offsets, sensors, sensor_count, int(arities.max(initial=0)), counts, members)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.repeat(arities, counts))])
    return Combinations(np.repeat(np.arange(counts.size), counts), ends, members)


@kernel
def _count(offsets, sensors, sensor_count, limit):
    """Of each list, how many combinations and sensors it has; and how many combinations all have, or -1 if too many."""
    counts, arities = np.zeros(offsets.size - 1, np.int64), np.ones(offsets.size - 1, np.int64)
    occurrences = np.zeros(sensor_count, np.int64)
    total = 0
    for row in range(offsets.size - 1):
        for member in range(offsets[row] + 1, offsets[row + 1]):
            occurrences[sensors[member]] += 1
        product = 1
        for member in range(offsets[row] + 1, offsets[row + 1]):
            choices = occurrences[sensors[member]]
            if choices:
                occurrences[sensors[member]] = 0
                if product > (limit - total) // choices:
                    return counts, arities, -1
                product *= choices
                arities[row] += 1
        if product > limit - total:
            return counts, arities, -1
        counts[row] = product
        total += product
    return counts, arities, total


@kernel
def _write(offsets, sensors, sensor_count, most, counts, members):
    """Step through the members of each sensor as an odometer does, the last sensor fastest."""
    last = np.full(sensor_count, -1, np.int64)
    following = np.full(sensors.size, -1, np.int64)
    first, chosen = np.empty(most, np.int64), np.empty(most, np.int64)
    written = 0
    for row in range(offsets.size - 1):
        width = 0
        for member in range(offsets[row] + 1, offsets[row + 1]):
            before = last[sensors[member]]
            last[sensors[member]] = member
            if before > offsets[row]:
                following[before] = member
            else:
                first[width] = chosen[width] = member
                width += 1
        for _ in range(counts[row]):
            members[written] = offsets[row]
            _write_in_order(chosen, width, members, written + 1)
            written += 1 + width
            wheel = width - 1
            while wheel >= 0 and following[chosen[wheel]] < 0:
                chosen[wheel] = first[wheel]
                wheel -= 1
            if wheel >= 0:
                chosen[wheel] = following[chosen[wheel]]


@kernel
def _write_in_order(chosen, width, members, start):
    for count in range(width):
        slot = start + count
        while slot > start and members[slot - 1] > chosen[count]:
            members[slot] = members[slot - 1]
            slot -= 1
        members[slot] = chosen[count]
