"""The least and the greatest number of each group. NaN counts as greater than every number, as in SQL."""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Float64s, Int64s

__all__ = ["greatest", "least"]

Numbers = Int64s | Float64s


def least(values: Numbers, valid: Bools, numbers: Int64s, count: int) -> tuple[Numbers, Bools]:
    """The least valid value of each group, and whether it has one.

    >>> least(np.array([3, 1, 2]), np.array([True, False, True]), np.array([0, 0, 0]), 1)
    (array([2]), array([ True]))
    """
    _check(values, valid, numbers)
    return _least(values, valid, numbers, count)


def greatest(values: Numbers, valid: Bools, numbers: Int64s, count: int) -> tuple[Numbers, Bools]:
    """The greatest valid value of each group, and whether it has one."""
    _check(values, valid, numbers)
    return _greatest(values, valid, numbers, count)


def _check(values: Numbers, valid: Bools, numbers: Int64s) -> None:
    if not values.size == valid.size == numbers.size:
        raise KernelError("values, valid and groups differ in length:", values.size, valid.size, numbers.size)


@kernel
def _least(values, valid, numbers, count):
    found = np.zeros(count, values.dtype)
    any_ = np.zeros(count, np.bool_)
    for row in range(values.size):
        if valid[row]:
            number, value = numbers[row], values[row]
            # `found != found` holds for NaN alone, which any number undercuts.
            if not any_[number] or value < found[number] or (found[number] != found[number] and value == value):
                found[number] = value
                any_[number] = True
    return found, any_


@kernel
def _greatest(values, valid, numbers, count):
    found = np.zeros(count, values.dtype)
    any_ = np.zeros(count, np.bool_)
    for row in range(values.size):
        if valid[row]:
            number, value = numbers[row], values[row]
            if not any_[number] or value > found[number] or value != value:
                found[number] = value
                any_[number] = True
    return found, any_
