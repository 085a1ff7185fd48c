"""Which readings of a group follow each other closely enough to be one session."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["number_sessions"]


def number_sessions(groups: Int64s, starts: Int64s, lasts: Int64s, gap_us: int) -> Int64s:
    """Number the sessions of intervals that are sorted by group and start: each has a first and a last moment.

    An interval belongs to the session before it if it starts at most ``gap_us`` after all of that.

    >>> number_sessions(np.array([0, 0, 0, 1]), np.array([1, 4, 9, 9]), np.array([2, 4, 9, 9]), 3).tolist()
    [0, 0, 1, 2]
    """
    if not groups.size == starts.size == lasts.size:
        raise KernelError("groups, starts and lasts differ in length:", groups.size, starts.size, lasts.size)
    return _number_sessions(groups, starts, lasts, np.uint64(gap_us))


@kernel
def _number_sessions(groups, starts, lasts, gap_us):
    numbers = np.empty(groups.size, np.int64)
    number, last = -1, 0
    for row in range(groups.size):
        # Unsigned, since two moments may be further apart than 63 bits hold.
        apart = starts[row] > last and np.uint64(starts[row]) - np.uint64(last) > gap_us
        if row == 0 or groups[row] != groups[row - 1] or apart:
            number += 1
            last = lasts[row]
        elif lasts[row] > last:
            last = lasts[row]
        numbers[row] = number
    return numbers
