"""A set of rows of 64-bit codes, found by all of their codes, and what has become of each row within a tick.

    slots   · · [tag|2] · [tag|0] · · [tag|1] ·      open addressing: 31 bits of hash, and where the row stands
    codes   row 0 │ row 1 │ row 2 │ (free) │ row 4   rows keep their index; freed ones are reused

A row was there before the tick (``OLD``), is there now (``NEW``), both, or, for a while, neither. Nothing leaves the
table within a tick, so that what was there can still be looked up; ``remove`` takes rows out when it has ended.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._prefetch import prefetch
from skerry.kernels._reference import inlined_kernel
from skerry.kernels.array_address import address_of
from skerry.kernels.hash import hash_of
from skerry.model.arrays import Int64s

__all__ = ["NEW", "NONE", "OLD", "TOUCHED", "WAITING", "Inserted", "RowField", "RowSet", "slot_of", "tag_of"]


OLD, NEW, TOUCHED, WAITING = 1, 2, 4, 8
"""States, added up: there before the tick; there now; made to leave or decided in this tick; still to be decided."""
NONE = -1
_FEWEST = 16
_AHEAD = 12
"""How many keys ahead are prefetched: the tables are read at random, and would wait for memory."""
_ROW = (1 << 32) - 1


class RowField(IntEnum):
    """What stands in the header of a set: where its arrays lie, how long they are, and how far they are filled."""

    CODES = 0
    STATES = 1
    RANKS = 2
    ROOM = 3
    WIDTH = 4
    SLOTS = 5
    SLOT_COUNT = 6
    FREE = 7
    FREED = 8
    COUNT = 9


class Inserted(NamedTuple):
    """What an insertion did."""

    changed: Int64s
    """Rows that were not there just before."""
    fresh: Int64s
    """Those among them that the table did not hold at all."""


class RowSet:
    """Rows with their states and ranks.

    >>> rows = RowSet(2)
    >>> rows.insert(np.array([[1, 2], [3, 4], [1, 2]]), np.zeros(3, np.int64)).changed.tolist()
    [0, 1]
    >>> rows.find(np.array([[3, 4], [4, 3]])).tolist()
    [1, -1]
    >>> rows.remove(np.array([0]))
    >>> rows.insert(np.array([[9, 9]]), np.zeros(1, np.int64)).fresh.tolist()
    [0]
    """

    def __init__(self, arity: int) -> None:
        self.codes = np.zeros((_FEWEST, arity), np.int64)
        self.states = np.zeros(_FEWEST, np.int8)
        self.ranks = np.zeros(_FEWEST, np.int64)
        self._slots = np.full(4 * _FEWEST, NONE, np.int64)
        self._free = np.empty(_FEWEST, np.int64)
        self.header = np.zeros(len(RowField), np.int64)
        """Addresses and lengths, for kernels; the header itself never moves."""
        self._note()

    @property
    def address(self) -> int:
        """Where its header lies."""
        return address_of(self.header)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another row."""
        return not self.header[RowField.FREED] and self.count == len(self.codes)

    @property
    def count(self) -> int:
        """How many rows were ever in use: all indexes are below it."""
        return int(self.header[RowField.COUNT])

    def find(self, keys: Int64s) -> Int64s:
        """The row of each key, whatever its state, or -1."""
        return _find(self._slots, self.codes, keys)

    def insert(self, keys: Int64s, ranks: Int64s) -> Inserted:
        """Make all keys be there now; rows new to the tick get the least rank given."""
        changed, fresh = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        counts = np.zeros(4, np.int64)
        counts[2], counts[3] = self.header[RowField.COUNT], self.header[RowField.FREED]
        tags = _tags(keys)
        index = self._insert(keys, tags, ranks, 0, changed, fresh, counts)
        while index < len(keys):
            self.grow()
            index = self._insert(keys, tags, ranks, index, changed, fresh, counts)
        return Inserted(changed[: counts[0]], fresh[: counts[1]])

    def remove(self, rows: Int64s) -> None:
        """Take rows out; their indexes will be reused."""
        freed = int(self.header[RowField.FREED])
        if freed + rows.size > self._free.size:
            self._free = _longer(self._free, max(2 * self._free.size, freed + rows.size))
            self._note()
        self.header[RowField.FREED] = _remove(self._slots, self.codes, self.states, self._free, freed, rows)

    def grow(self) -> None:
        """Make room for twice as many rows."""
        size = 2 * len(self.codes)
        self.codes, self.states = _longer(self.codes, size), _longer(self.states, size)
        self.ranks = _longer(self.ranks, size)
        slots = np.full(4 * size if size < 1 << 16 else 2 * size, NONE, np.int64)
        _move(self._slots, slots)
        self._slots = slots
        self._note()

    def _insert(
        self, keys: Int64s, tags: Int64s, ranks: Int64s, start: int, changed: Int64s, fresh: Int64s, counts: Int64s
    ) -> int:
        held = self._slots, self.codes, self.states, self.ranks, self._free
        index = _insert(*held, keys, tags, ranks, start, changed, fresh, counts)
        self.header[RowField.COUNT], self.header[RowField.FREED] = counts[2], counts[3]
        return index

    def _note(self) -> None:
        arrays: Mapping[IntEnum, npt.NDArray[Any]] = {
            RowField.CODES: self.codes,
            RowField.STATES: self.states,
            RowField.RANKS: self.ranks,
            RowField.SLOTS: self._slots,
            RowField.FREE: self._free,
        }
        for part, array in arrays.items():
            self.header[part] = address_of(array)
        self.header[RowField.ROOM], self.header[RowField.WIDTH] = self.codes.shape
        self.header[RowField.SLOT_COUNT] = self._slots.size


def _longer(array: npt.NDArray, size: int) -> npt.NDArray:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@inlined_kernel
def tag_of(keys, index):
    """31 bits of hash of a row of codes."""
    mixed = np.uint64(0)
    for column in range(keys.shape[1]):
        mixed = hash_of(mixed ^ np.uint64(keys[index, column]))
    return np.int64(mixed & np.uint64(0x7FFFFFFF))


@inlined_kernel
def _same_codes(codes, row, keys, index):
    """Whether a row holds just what a key does."""
    same = True
    for column in range(keys.shape[1]):
        same = same and codes[row, column] == keys[index, column]
    return same


@kernel
def _tags(keys):
    tags = np.empty(len(keys), np.int64)
    for index in range(len(keys)):
        tags[index] = tag_of(keys, index)
    return tags


@inlined_kernel
def slot_of(slots, codes, keys, index, tag):
    """The slot that holds a key, or the empty one that it would get."""
    slot = tag & (slots.size - 1)
    held = slots[slot]
    while held >= 0 and not (held >> 32 == tag and _same_codes(codes, held & _ROW, keys, index)):
        slot = (slot + 1) & (slots.size - 1)
        held = slots[slot]
    return slot


@kernel
def _find(slots, codes, keys):
    rows = np.empty(len(keys), np.int64)
    tags = _tags(keys)
    for index in range(len(keys)):
        if index + 2 * _AHEAD < len(keys):
            prefetch(slots, tags[index + 2 * _AHEAD] & (slots.size - 1))
        if index + _AHEAD < len(keys):
            ahead = slots[tags[index + _AHEAD] & (slots.size - 1)]
            if ahead >= 0:
                prefetch(codes, ahead & _ROW)
        held = slots[slot_of(slots, codes, keys, index, tags[index])]
        rows[index] = held & _ROW if held >= 0 else NONE
    return rows


@kernel
def _insert(slots, codes, states, ranks, free, keys, tags, new_ranks, start, changed, fresh, counts):
    """Insert keys from ``start`` on; the index of the first for which there was no room.

    ``counts``: how many changed, how many of them are fresh, rows ever in use, rows free.
    """
    for index in range(start, len(keys)):
        if index + 2 * _AHEAD < len(keys):
            prefetch(slots, tags[index + 2 * _AHEAD] & (slots.size - 1))
        if index + _AHEAD < len(keys):
            ahead = slots[tags[index + _AHEAD] & (slots.size - 1)]
            if ahead >= 0:
                prefetch(codes, ahead & _ROW)
        slot = slot_of(slots, codes, keys, index, tags[index])
        if slots[slot] < 0:
            if counts[3] > 0:
                counts[3] -= 1
                row = free[counts[3]]
            elif counts[2] < len(codes):
                row = counts[2]
                counts[2] += 1
            else:
                return index
            slots[slot] = (tags[index] << 32) | row
            for column in range(keys.shape[1]):
                codes[row, column] = keys[index, column]
            states[row] = 0
            fresh[counts[1]] = row
            counts[1] += 1
        row = slots[slot] & _ROW
        if not states[row] & NEW:
            states[row] |= NEW
            ranks[row] = new_ranks[index]
            changed[counts[0]] = row
            counts[0] += 1
        elif states[row] == NEW and new_ranks[index] < ranks[row]:
            ranks[row] = new_ranks[index]
    return len(keys)


@kernel
def _remove(slots, codes, states, free, freed, rows):
    """Empty the slots of rows, and close the gaps, so that every search still ends at the first empty slot."""
    mask = slots.size - 1
    for index in range(rows.size):
        row = rows[index]
        slot = tag_of(codes, row) & mask
        while slots[slot] & _ROW != row or slots[slot] < 0:
            slot = (slot + 1) & mask
        after = (slot + 1) & mask
        while slots[after] >= 0:
            home = (slots[after] >> 32) & mask
            if (after - home) & mask >= (after - slot) & mask:
                slots[slot] = slots[after]
                slot = after
            after = (after + 1) & mask
        slots[slot] = NONE
        states[row] = 0
        free[freed] = row
        freed += 1
    return freed


@kernel
def _move(slots, larger):
    for index in range(slots.size):
        if slots[index] >= 0:
            slot = (slots[index] >> 32) & (larger.size - 1)
            while larger[slot] >= 0:
                slot = (slot + 1) & (larger.size - 1)
            larger[slot] = slots[index]
