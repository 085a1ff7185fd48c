"""Which pane a moment belongs to."""

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel

__all__ = ["pane_numbers"]

Int64s = npt.NDArray[np.int64]


def pane_numbers(moments: Int64s, pane_us: int) -> Int64s:
    """Number the pane of each moment, rounding down, before the epoch too.

    >>> pane_numbers(np.array([-1, 0, 29, 30]), 30)
    array([-1,  0,  0,  1])
    """
    return _numbers(moments, pane_us)


@kernel
def _numbers(moments, pane_us):
    numbers = np.empty(moments.size, np.int64)
    # Readings come nearly in order, so most are in the pane of the one before: no division for those.
    number, start, end = 0, 0, 0
    for row in range(moments.size):
        moment = moments[row]
        if moment < start or moment >= end:
            number = moment // pane_us
            start = number * pane_us
            end = start + pane_us
        numbers[row] = number
    return numbers
