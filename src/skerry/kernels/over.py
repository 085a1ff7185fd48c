"""Frames over sorted rows: where they begin and end, and the extreme value in each.

Rows are sorted by partition, and within it by the order of the window. A frame is the rows from ``low`` up to but not
including ``high``; within a partition both rise from row to row.
"""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s

__all__ = ["find_extremes", "find_range_bounds", "order_by_group"]


def order_by_group(numbers: Int64s, count: int) -> Int64s:
    """The indices of rows by group; rows of one group stay as they stand.

    >>> order_by_group(np.array([1, 0, 1]), 2).tolist()
    [1, 0, 2]
    """
    return _order_by_group(numbers, count)


def find_range_bounds(times: Int64s, starts: Int64s, stops: Int64s, offset: int, *, is_end: bool) -> Int64s:
    """By row, the first row of its partition whose time is not before its own and an offset; for an end, is after it.

    >>> times = np.array([0, 10, 20])
    >>> find_range_bounds(times, np.zeros(3, np.int64), np.full(3, 3), -10, is_end=False).tolist()
    [0, 0, 1]
    """
    if not times.size == starts.size == stops.size:
        raise KernelError("times and partitions differ in length:", times.size, starts.size, stops.size)
    return _find_range_bounds(times, starts, stops, offset, is_end)


def find_extremes(codes: Int64s, valid: Bools, lows: Int64s, highs: Int64s, *, highest: bool) -> Int64s:
    """By frame, the first of its valid rows with the least code, or the greatest; -1 where there is none.

    >>> find_extremes(np.array([3, 1, 2]), np.ones(3, bool), np.array([0, 0, 2]), np.array([1, 3, 3]), highest=False)
    array([0, 1, 2])
    """
    if not codes.size == valid.size or not lows.size == highs.size:
        raise KernelError("codes and frames differ in length:", codes.size, valid.size, lows.size, highs.size)
    return _find_extremes(~codes if highest else codes, valid, lows, highs)


@kernel
def _order_by_group(numbers, count):
    starts = np.zeros(count + 1, np.int64)
    for row in range(numbers.size):
        starts[numbers[row] + 1] += 1
    for number in range(count):
        starts[number + 1] += starts[number]
    order = np.empty(numbers.size, np.int64)
    for row in range(numbers.size):
        order[starts[numbers[row]]] = row
        starts[numbers[row]] += 1
    return order


@kernel
def _find_range_bounds(times, starts, stops, offset, is_end):
    found = np.empty(times.size, np.int64)
    bound = 0
    for row in range(times.size):
        bound = max(bound, starts[row])
        moment = times[row] + offset
        while bound < stops[row] and (times[bound] < moment or (is_end and times[bound] == moment)):
            bound += 1
        found[row] = bound
    return found


@kernel
def _find_extremes(codes, valid, lows, highs):
    """The rows that may still be least are in a queue, their codes rising; a frame that goes back starts it anew."""
    found = np.full(lows.size, -1, np.int64)
    queue = np.empty(codes.size + 1, np.int64)
    first, last, taken, previous = 0, 0, 0, 0
    for frame in range(lows.size):
        low, high = lows[frame], highs[frame]
        if high <= low:
            continue
        if low < previous or high < taken or low >= taken:
            first, last, taken = 0, 0, low
        previous = low
        while taken < high:
            if valid[taken]:
                while last > first and codes[queue[last - 1]] > codes[taken]:
                    last -= 1
                queue[last] = taken
                last += 1
            taken += 1
        while first < last and queue[first] < low:
            first += 1
        if first < last:
            found[frame] = queue[first]
    return found
