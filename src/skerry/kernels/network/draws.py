"""Chance without a state: a draw depends on what is drawn for alone, so the order of events does not change it."""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.model.arrays import Float64s

__all__ = ["cell_of", "draw_unit", "draw_units", "find_cell"]


def draw_units(seed: int, time: int, sensor: int, count: int) -> Float64s:
    """For a tuple, known by its time and sensor, a number from 0 to below 1 per head.

    >>> bool((draw_units(1, 1_000, 7, 50) == draw_units(1, 1_000, 7, 50)).all())
    True
    """
    return _draw_all(seed, time, sensor, count)


def find_cell(value: int, cells: int) -> int:
    """The cell of a hash table that a value falls into: the paper's H(t)."""
    return int(cell_of(value, cells))


@kernel
def cell_of(value, cells):
    """As ``find_cell``, for kernels."""
    return np.int64(hash_of(np.int64(value)) % np.uint64(cells))


@kernel
def draw_unit(seed, time, sensor, head):
    """As one of ``draw_units``, for kernels."""
    bits = hash_of(np.int64(time) ^ np.int64(hash_of(np.int64(seed)) >> np.uint64(1)))
    bits = hash_of(np.int64(bits >> np.uint64(1)) + np.int64(sensor))
    bits = hash_of(np.int64(bits >> np.uint64(1)) + np.int64(head))
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@kernel
def _draw_all(seed, time, sensor, count):
    units = np.empty(count, np.float64)
    for head in range(count):
        units[head] = draw_unit(seed, time, sensor, head)
    return units
