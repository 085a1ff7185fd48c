"""Sums, differences and products of 64-bit integers that tell where they do not fit."""

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError
from skerry.kernels._jit import kernel

__all__ = ["SIGNS", "exact"]

Int64s = npt.NDArray[np.int64]

SIGNS = ("+", "-", "*")
_PLUS, _MINUS, _TIMES = range(3)
_LEAST, _MOST = -(2**63), 2**63 - 1


def exact(sign: str, left: Int64s, right: Int64s) -> tuple[Int64s, npt.NDArray[np.bool_] | None]:
    """``left sign right``, and where that has wrapped around; None: nowhere.

    >>> exact("*", np.array([3, 2**62]), np.array([5, 2]))[1].tolist()
    [False, True]
    """
    if left.shape != right.shape:
        raise KernelError("columns differ in length:", left.size, right.size)
    results, wrong, any_wrong = _exact(SIGNS.index(sign), left, right)
    return results, wrong if any_wrong else None


@kernel
def _exact(sign, left, right):
    results, wrong = np.empty(left.size, np.int64), np.zeros(left.size, np.bool_)
    any_wrong = False
    for row in range(left.size):
        first, second = left[row], right[row]
        if sign == _PLUS:
            result = first + second
            bad = ((first ^ result) & (second ^ result)) < 0
        elif sign == _MINUS:
            result = first - second
            bad = ((first ^ second) & (first ^ result)) < 0
        else:
            result = first * second
            bad = _overflows(first, second)
        results[row] = result
        wrong[row] = bad
        any_wrong = any_wrong or bad
    return results, wrong, any_wrong


@kernel
def _overflows(first, second):
    """Whether a product needs more than 64 bits; told without it, for compilers hold that none does."""
    if first == 0 or second == 0:
        return False
    if first > 0 and second > 0:
        return first > _MOST // second
    if first < 0 and second < 0:
        return first < -(_MOST // -second)
    least, most = min(first, second), max(first, second)
    return least < -(_MOST // most) - (_MOST % most == most - 1)
