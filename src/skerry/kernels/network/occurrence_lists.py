"""How many tuples of a head, or of a sensor, share a value within a window: by prefix sums.

Tuples are numbered in order of (time, sensor). Who reads what is known beforehand, so every list is laid out once; what
is not known is which tuples are dropped. A list's prefix sums are extended when somebody asks.

    ids       of one list    3   8   9   20  31          prefix   0  1  1  2  .  .
    stored                   1   0   1   ?   ?           decided  3
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["OccurrenceLists", "count_stored", "lay_out_lists"]


class OccurrenceLists(NamedTuple):
    """The lists of all owners, which are heads or sensors; each belongs to an owner and a value."""

    list_of: Int64s
    """By owner and value: the number of the list, or -1."""
    offsets: Int64s
    ids: Int64s
    prefix: Int64s
    decided: Int64s
    """By list: how many of its tuples the prefix sums cover."""


def lay_out_lists(owners: Int64s, values: Int64s, owner_count: int, value_count: int) -> OccurrenceLists:
    """Lists for tuples whose owners and values are small numbers, in order of the tuples.

    >>> lists = lay_out_lists(np.array([0, 1, 0]), np.array([5, 5, 5]), 2, 6)
    >>> lists.ids.tolist(), lists.offsets.tolist(), lists.list_of[:, 5].tolist()
    ([0, 2, 1], [0, 2, 3], [0, 1])
    """
    codes = owners.astype(np.int64) * value_count + values
    known, sizes = np.unique(codes, return_counts=True)
    list_of = np.full(owner_count * value_count, -1, np.int64)
    list_of[known] = np.arange(known.size)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    ids = np.argsort(codes, kind="stable")
    prefix, decided = np.zeros(codes.size + known.size, np.int64), np.zeros(known.size, np.int64)
    return OccurrenceLists(list_of.reshape(owner_count, value_count), offsets, ids, prefix, decided)


@kernel
def count_stored(lists, stored, owner, value, first, last):
    """How many tuples of an owner and a value, numbered from ``first`` to below ``last``, are stored."""
    list_of, offsets, ids, prefix, decided = lists
    number = list_of[owner, value]
    if number < 0:
        return 0
    start, stop = offsets[number], offsets[number + 1]
    high = _search(ids, start, stop, last)
    low = _search(ids, start, high, first)
    base = start + number
    while decided[number] < high - start:
        at = decided[number]
        prefix[base + at + 1] = prefix[base + at] + stored[ids[start + at]]
        decided[number] = at + 1
    return prefix[base + high - start] - prefix[base + low - start]


@kernel
def _search(ids, start, stop, wanted):
    """The first position from ``start`` to ``stop`` whose number is ``wanted`` or more."""
    while start < stop:
        middle = (start + stop) >> 1
        if ids[middle] < wanted:
            start = middle + 1
        else:
            stop = middle
    return start
