"""The order of tuples: by time, and of one time by sensor or as they stand."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["order_by_time", "order_by_time_and_sensor"]


_MANY = 32
"""If more tuples than this have one time, all are sorted at once: insertion would be slower."""
_POSITION_BITS = 20
_MOST, _LONGEST = 2**_POSITION_BITS, 2 ** (63 - _POSITION_BITS)
"""Runs are merged up to so many tuples, less far apart than this: time and position of each then fit into one word."""


def order_by_time_and_sensor(times: Int64s, orders: Int64s) -> Int64s | None:
    """The indices of tuples in order of (time, sensor, arrival), or None if they are in order already.

    >>> order_by_time_and_sensor(np.array([2, 2, 1]), np.array([1, 0, 5])).tolist()
    [2, 1, 0]
    """
    if times.size != orders.size:
        raise KernelError("times and orders differ in length:", times.size, orders.size)
    if _is_in_order(times, orders):
        return None
    order = np.argsort(times, kind="stable")
    return order if _order_ties(order, times, orders) else np.lexsort((orders, times))


def order_by_time(times: Int64s, sizes: Int64s) -> Int64s:
    """The indices of tuples in order of time; tuples of one time stay as they stand. ``sizes`` are those of their runs.

    Runs that are each in order are merged, which is quicker than to sort them.

    >>> order_by_time(np.array([1, 4, 2, 4]), np.array([2, 2])).tolist()
    [0, 2, 1, 3]
    """
    if times.size != sizes.sum():
        raise KernelError("times and runs differ in length:", times.size, sizes.sum())
    if times.size > _MOST or not _can_merge(times, sizes):
        return np.argsort(times, kind="stable")
    return _merge(times, sizes)


@kernel
def _can_merge(times, sizes):
    """Whether all runs are in order, and no two tuples too far apart."""
    falls, begin = 0, 0
    for run in range(sizes.size):
        here = times[begin : begin + sizes[run]]
        for row in range(here.size - 1):
            falls += here[row + 1] < here[row]
        begin += sizes[run]
    return falls == 0 and (times.size == 0 or (times.max() >> 1) - (times.min() >> 1) < _LONGEST >> 1)


@kernel
def _merge(times, sizes):
    """Merge neighbouring runs until one is left."""
    words, spare = np.empty(times.size, np.int64), np.empty(times.size, np.int64)
    earliest = times.min() if times.size else 0
    for row in range(times.size):
        words[row] = (times[row] - earliest) << _POSITION_BITS | row
    bounds, runs = np.append(0, np.cumsum(sizes)), sizes.size
    while runs > 1:
        for run in range(0, runs, 2):
            begin, middle, stop = bounds[run], bounds[run + 1], bounds[min(run + 2, runs)]
            _merge_two(words[begin:middle], words[middle:stop], spare[begin:stop])
            bounds[run // 2 + 1] = stop
        words, spare, runs = spare, words, (runs + 1) // 2
    return words & (_MOST - 1)


@kernel
def _merge_two(one, other, both):
    """Merge from both ends at once, while neither run can be used up: the processor overlaps the two."""
    low, high = 0, both.size - 1
    left, right, left_last, right_last = 0, 0, one.size - 1, other.size - 1
    for _ in range(min(one.size, other.size)):
        is_right = other[right] < one[left]
        both[low] = min(one[left], other[right])
        right += is_right
        left += not is_right
        is_left = other[right_last] < one[left_last]
        both[high] = max(one[left_last], other[right_last])
        left_last -= is_left
        right_last -= not is_left
        low, high = low + 1, high - 1
    while low <= high:
        if left > left_last or (right <= right_last and other[right] < one[left]):
            both[low] = other[right]
            right += 1
        else:
            both[low] = one[left]
            left += 1
        low += 1


@kernel
def _order_ties(order, times, orders):
    """Put tuples that are in order of time in order of sensor too; False if that were too much work."""
    start = 0
    for stop in range(1, order.size + 1):
        if stop < order.size and times[order[stop]] == times[order[start]]:
            continue
        if stop - start > _MANY:
            return False
        for row in range(start + 1, stop):
            moved, slot = order[row], row
            while slot > start and orders[order[slot - 1]] > orders[moved]:
                order[slot] = order[slot - 1]
                slot -= 1
            order[slot] = moved
        start = stop
    return True


@kernel
def _is_in_order(times, orders):
    for row in range(1, times.size):
        if times[row] < times[row - 1] or (times[row] == times[row - 1] and orders[row] < orders[row - 1]):
            return False
    return True
