"""Room for pairs of a row and a number, written by kernels that stop when it is used up."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int32s

__all__ = ["grow_pairs", "merge_pairs"]


def grow_pairs(rows: Int32s, numbers: Int32s, filled: int, size: int) -> tuple[Int32s, Int32s]:
    """Arrays with room for ``size`` pairs, the first ``filled`` of them copied.

    >>> rows, numbers = grow_pairs(np.array([4], np.int32), np.array([7], np.int32), 1, 10)
    >>> rows.size, numbers[:1].tolist()
    (10, [7])
    """
    found = np.empty(size, np.int32), np.empty(size, np.int32)
    for after, before in zip(found, (rows, numbers), strict=True):
        after[:filled] = before[:filled]
    return found


def merge_pairs(some: tuple[Int32s, Int32s], others: tuple[Int32s, Int32s]) -> tuple[Int32s, Int32s]:
    """Merge pairs in order of rows, as both are; of one row, those of ``some`` come first.

    >>> some, others = np.array([[0, 2], [7, 8]], np.int32), np.array([[2], [2]], np.int32)
    >>> rows, numbers = merge_pairs((some[0], some[1]), (others[0], others[1]))
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
    for index in range(found_rows.size):
        if other == other_rows.size or (one < rows.size and rows[one] <= other_rows[other]):
            found_rows[index], found_numbers[index] = rows[one], numbers[one]
            one += 1
        else:
            found_rows[index], found_numbers[index] = other_rows[other], other_numbers[other]
            other += 1
