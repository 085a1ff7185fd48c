"""Room for pairs of a row and a number, written by kernels that stop when it is used up."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int32s

__all__ = ["merged", "roomier"]


def roomier(rows: Int32s, numbers: Int32s, filled: int, size: int) -> tuple[Int32s, Int32s]:
    """The first ``filled`` pairs, and room for ``size`` in all.

    >>> rows, numbers = roomier(np.array([4], np.int32), np.array([7], np.int32), 1, 10)
    >>> rows.size, numbers[:1].tolist()
    (10, [7])
    """
    found = np.empty(size, np.int32), np.empty(size, np.int32)
    for after, before in zip(found, (rows, numbers), strict=True):
        after[:filled] = before[:filled]
    return found


def merged(some: tuple[Int32s, Int32s], others: tuple[Int32s, Int32s]) -> tuple[Int32s, Int32s]:
    """All pairs, in order of rows, as both are; of a row, those of ``some`` first.

    >>> rows, numbers = merged((np.array([0, 2], np.int32), np.array([7, 8], np.int32)), (np.array([2], np.int32),) * 2)
    >>> rows.tolist(), numbers.tolist()
    ([0, 2, 2], [7, 8, 2])
    """
    if not others[0].size:
        return some
    found = np.empty(some[0].size + others[0].size, np.int32), np.empty(some[0].size + others[0].size, np.int32)
    _merge(*some, *others, *found)
    return found


@kernel
def _merge(rows, numbers, other_rows, other_numbers, found_rows, found_numbers):
    one, other = 0, 0
    for place in range(found_rows.size):
        if other == other_rows.size or (one < rows.size and rows[one] <= other_rows[other]):
            found_rows[place], found_numbers[place] = rows[one], numbers[one]
            one += 1
        else:
            found_rows[place], found_numbers[place] = other_rows[other], other_numbers[other]
            other += 1
