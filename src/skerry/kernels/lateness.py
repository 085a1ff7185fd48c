"""Late readings: which readings of a split lie behind the watermark when they are read."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s

__all__ = ["mark_late"]


def mark_late(moments: Int64s, newest: int, delay_us: int) -> tuple[Bools, int, int]:
    """Mark the late readings of a split, in stored order. Also gives how many there are, and the newest moment so far.

    >>> mark_late(np.array([10, 4, 5, 20]), 0, 5)
    (array([False,  True, False, False]), 1, 20)
    """
    late, count, newest = _late(moments, newest, delay_us)
    return late, int(count), int(newest)


@kernel
def _late(moments, newest, delay_us):
    late = np.zeros(moments.size, np.bool_)
    count = 0
    for row in range(moments.size):
        if moments[row] < newest - delay_us:
            late[row] = True
            count += 1
        elif moments[row] > newest:
            newest = moments[row]
    return late, count, newest
