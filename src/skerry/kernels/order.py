"""The order of tuples: by time, of one time by sensor, of one sensor by arrival."""

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError
from skerry.kernels._jit import kernel

__all__ = ["in_order"]

Int64s = npt.NDArray[np.int64]

_MANY = 32
"""From so many tuples of one time on, it is worth while to sort them by sensor."""


def in_order(times: Int64s, orders: Int64s) -> Int64s | None:
    """The places of tuples in order of (time, sensor, arrival), or None if they are in order already.

    >>> in_order(np.array([2, 2, 1]), np.array([1, 0, 5])).tolist()
    [2, 1, 0]
    """
    if times.size != orders.size:
        raise KernelError("times and orders differ in length:", times.size, orders.size)
    if _rising(times, orders):
        return None
    order = np.argsort(times, kind="stable")
    return order if _order_ties(order, times, orders) else np.lexsort((orders, times))


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
def _rising(times, orders):
    for row in range(1, times.size):
        if times[row] < times[row - 1] or (times[row] == times[row - 1] and orders[row] < orders[row - 1]):
            return False
    return True
