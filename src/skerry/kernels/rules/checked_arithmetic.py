"""Sums, differences and products of 64-bit integers, with a check for overflow."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s

__all__ = ["SIGNS", "calculate", "exact", "wraps"]


SIGNS = ("+", "-", "*")
_PLUS, _MINUS, _TIMES = range(3)
_LEAST, _MOST = -(2**63), 2**63 - 1


def exact(sign: str, left: Int64s, right: Int64s) -> tuple[Int64s, Bools | None]:
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
        results[row] = calculate(sign, left[row], right[row])
        wrong[row] = wraps(sign, left[row], right[row])
        any_wrong = any_wrong or wrong[row]
    return results, wrong, any_wrong


@kernel
def calculate(sign, first, second):
    """A sum, difference or product, wrapped around if it does not fit."""
    if sign == _PLUS:
        return first + second
    return first - second if sign == _MINUS else first * second


@kernel
def wraps(sign, first, second):
    """Whether it does not fit."""
    result = calculate(sign, first, second)
    if sign == _PLUS:
        return ((first ^ result) & (second ^ result)) < 0
    if sign == _MINUS:
        return ((first ^ second) & (first ^ result)) < 0
    return _overflows(first, second)


@kernel
def _overflows(first, second):
    """Whether a product overflows. Found by division: compilers assume that products never do."""
    if first == 0 or second == 0:
        return False
    if first > 0 and second > 0:
        return first > _MOST // second
    if first < 0 and second < 0:
        return first < -(_MOST // -second)
    least, most = min(first, second), max(first, second)
    return least < -(_MOST // most) - (_MOST % most == most - 1)
