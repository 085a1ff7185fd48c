"""Numbers for rows that belong together: dense groups of rows with equal keys."""

from dataclasses import dataclass

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.model.arrays import Int64s

__all__ = ["Groups", "group"]


@dataclass(frozen=True)
class Groups:
    """``numbers[i]`` is row i's group; ``first[g]`` is the first row of group g."""

    numbers: Int64s
    first: Int64s

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.first.size)


def group(codes: Int64s) -> Groups:
    """Number rows by their code.

    >>> found = group(np.array([7, 9, 7]))
    >>> found.numbers.tolist(), found.first.tolist()
    ([0, 1, 0], [0, 1])
    """
    if codes.ndim != 1:
        raise KernelError("codes must have one dimension, got", codes.ndim)
    if codes.size == 0:
        return Groups(np.empty(0, np.int64), np.empty(0, np.int64))
    low, high = int(codes.min()), int(codes.max())
    if high - low <= max(1024, 4 * codes.size):
        return Groups(*_by_table(codes, low, high - low + 1))
    return Groups(*_by_hash(codes))


@kernel
def _by_table(codes, low, span):
    table = np.full(span, -1, np.int64)
    numbers = np.empty(codes.size, np.int64)
    first = np.empty(min(span, codes.size), np.int64)
    count = 0
    for row in range(codes.size):
        slot = codes[row] - low
        number = table[slot]
        if number < 0:
            number = count
            table[slot] = number
            first[count] = row
            count += 1
        numbers[row] = number
    return numbers, first[:count].copy()


@kernel
def _by_hash(codes):
    size = 16
    while size < 2 * codes.size:
        size *= 2
    table = np.full(size, -1, np.int64)
    numbers = np.empty(codes.size, np.int64)
    first = np.empty(codes.size, np.int64)
    count = 0
    mask = np.uint64(size - 1)
    for row in range(codes.size):
        code = codes[row]
        slot = np.int64(hash_of(code) & mask)
        while table[slot] >= 0 and codes[first[table[slot]]] != code:
            slot = (slot + 1) & np.int64(mask)
        if table[slot] < 0:
            table[slot] = count
            first[count] = row
            count += 1
        numbers[row] = table[slot]
    return numbers, first[:count].copy()
