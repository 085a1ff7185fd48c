"""Which slice a moment belongs to."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["slice_numbers"]


def slice_numbers(moments: Int64s, slice_us: int) -> Int64s:
    """Number the slice of each moment, rounding down, before the epoch too.

    >>> slice_numbers(np.array([-1, 0, 29, 30]), 30)
    array([-1,  0,  0,  1])
    """
    return _numbers(moments, slice_us)


@kernel
def _numbers(moments, slice_us):
    numbers = np.empty(moments.size, np.int64)
    # Readings come nearly in order, so most are in the slice of the one before: no division for those.
    number, start, end = 0, 0, 0
    for row in range(moments.size):
        moment = moments[row]
        if moment < start or moment >= end:
            number = moment // slice_us
            start = number * slice_us
            end = start + slice_us
        numbers[row] = number
    return numbers
