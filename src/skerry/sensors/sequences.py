"""Sensors' own sequence numbers: which are missing, as readings come, some of them late.

    numbers that came    1 2 3     6 7   9        gaps: 4-5 and 8, so two

A gap is a run of numbers that are missing between the lowest and the highest that came. One that comes late closes its
gap, or makes it smaller, or makes two of it. A number that came before already, with another reading, says that the
sensor has restarted: it counts anew, and the gaps until then stay.
"""

from bisect import bisect_right

import numpy as np

from skerry.model.arrays import Int64s

__all__ = ["Sequences"]

_MOST_GAPS = 64
"""So many gaps of a sensor can be closed by late readings; older ones stay as they are."""


class Sequences:
    """The numbers of many sensors, each known by an index. State is one number per sensor, and its last few gaps.

    >>> sequences = Sequences()
    >>> sequences.follow(np.array([0, 0, 0, 1]), np.array([1, 2, 5, 1]))
    {0: 1}
    >>> sequences.follow(np.array([0, 0]), np.array([4, 3]))
    {0: -1}
    """

    def __init__(self) -> None:
        self._highest: Int64s = np.zeros(0, np.int64)
        self._is_heard = np.zeros(0, np.bool_)
        self._gaps: dict[int, list[tuple[int, int]]] = {}

    def follow(self, sensors: Int64s, numbers: Int64s) -> dict[int, int]:
        """Take numbers up in the order in which they came; say by how many the gaps of each sensor have changed."""
        if not sensors.size:
            return {}
        self._grow(int(sensors.max()) + 1)
        order = np.argsort(sensors, kind="stable")
        sensors, numbers = sensors[order], numbers[order]
        starts = np.flatnonzero(np.diff(sensors, prepend=-1))
        stops = np.append(starts[1:], sensors.size)
        owners, lasts = sensors[starts], numbers[stops - 1]
        before = np.roll(numbers, 1)
        before[starts] = np.where(self._is_heard[owners], self._highest[owners], numbers[starts] - 1)
        is_broken = np.logical_or.reduceat(numbers - before != 1, starts)
        self._highest[owners[~is_broken]], self._is_heard[owners] = lasts[~is_broken], True
        changes = {
            owner: self._follow_one(owner, int(before[start]), numbers[start:stop].tolist())
            for owner, start, stop in zip(owners[is_broken].tolist(), starts[is_broken], stops[is_broken], strict=True)
        }
        return {sensor: change for sensor, change in changes.items() if change}

    def _follow_one(self, sensor: int, highest: int, numbers: list[int]) -> int:
        """Take up the numbers of one sensor; say by how many its gaps have changed."""
        gaps, change = self._gaps.setdefault(sensor, []), 0
        for number in numbers:
            if number > highest + 1:
                gaps.append((highest + 1, number - 1))
                change += 1
            elif number <= highest:
                closed = _close(gaps, number)
                if closed is None:
                    gaps.clear()
                else:
                    change += closed
                    continue
            highest = number
        del gaps[:-_MOST_GAPS]
        self._highest[sensor] = highest
        return change

    def _grow(self, count: int) -> None:
        """Make room for sensors up to an index, in doubling steps."""
        if count > self._highest.size:
            room = max(count, 2 * self._highest.size) - self._highest.size
            self._highest, self._is_heard = np.pad(self._highest, (0, room)), np.pad(self._is_heard, (0, room))


def _close(gaps: list[tuple[int, int]], number: int) -> int | None:
    """Take a number out of the gap that has it; say by how many there are more then, or None if no gap has it."""
    index = bisect_right(gaps, number, key=lambda gap: gap[0]) - 1
    if index < 0 or gaps[index][1] < number:
        return None
    low, high = gaps[index]
    left = [gap for gap in ((low, number - 1), (number + 1, high)) if gap[0] <= gap[1]]
    gaps[index : index + 1] = left
    return len(left) - 1
