"""An index of a row set: which rows hold given values in some columns. A hash table from keys to lists of rows.

    key ──► entry: newest row, how many ──► row ⇄ row ⇄ row

A list is doubly linked, so that a row leaves it at once; a new row costs a step. Entries whose lists are empty are
cleared away when there is no room for a new one.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels._reference import inlined_kernel
from skerry.kernels.array_address import address_of
from skerry.kernels.rules.row_set import NONE, slot_of, tag_of
from skerry.model.arrays import Int8s, Int64s

__all__ = ["COUNT", "HEAD", "NEXT", "Found", "ListField", "Matches", "Postings", "link_row"]


_FEWEST = 16
HEAD, COUNT = range(2)
NEXT, _BEFORE, _ENTRY = range(3)
_ROW = (1 << 32) - 1


class ListField(IntEnum):
    """What stands in the header of postings: where the arrays lie, how long they are, how far they are filled."""

    SLOTS = 0
    SLOT_COUNT = 1
    KEYS = 2
    LISTS = 3
    ROOM = 4
    COUNT = 5
    LINKS = 6
    ROWS = 7
    COLUMNS = 8
    WIDTH = 9


class Found(NamedTuple):
    """Lists found, one per query."""

    heads: Int64s
    counts: Int64s


class Matches(NamedTuple):
    """Pairs of a query and a row."""

    queries: Int64s
    rows: Int64s


class Postings:
    """Lists of rows by the values of some columns.

    >>> codes = np.array([[7, 1], [8, 2], [7, 3]])
    >>> postings = Postings(np.array([0]))
    >>> postings.link(codes, np.arange(3))
    >>> found = postings.seek(np.array([[7], [9]]))
    >>> found.counts.tolist(), postings.gather(found, np.full(3, 2, np.int8), 2).rows.tolist()
    ([2, 0], [2, 0])
    """

    def __init__(self, columns: Int64s) -> None:
        self.columns = columns
        self._slots = np.full(4 * _FEWEST, NONE, np.int64)
        self._keys = np.zeros((_FEWEST, columns.size), np.int64)
        self._lists = np.zeros((_FEWEST, 2), np.int64)
        self._links = np.zeros((_FEWEST, 3), np.int32)
        self.header = np.zeros(len(ListField), np.int64)
        """Addresses and lengths, for kernels; the header itself never moves."""
        self._note()

    def link(self, codes: Int64s, rows: Int64s) -> None:
        """Put rows into their lists."""
        self.reach(len(codes))
        index = self._link(codes, rows, 0)
        while index < rows.size:
            self.grow()
            index = self._link(codes, rows, index)

    def reach(self, rows: int) -> None:
        """Make room for rows up to a number."""
        if len(self._links) < rows:
            links = np.empty((rows, 3), np.int32)
            links[: len(self._links)] = self._links
            self._links = links
            self._note()

    def grow(self) -> None:
        """Make room for more keys."""
        size = 2 * max(_FEWEST, int(np.count_nonzero(self._lists[: self.keys, COUNT])))
        keys, lists = np.zeros((size, self.columns.size), np.int64), np.zeros((size, 2), np.int64)
        slots = np.full(1 << (4 * size - 1).bit_length(), NONE, np.int64)
        count = _move(self._keys, self._lists, self.keys, slots, keys, lists, self._links)
        self._slots, self._keys, self._lists = slots, keys, lists
        self.header[ListField.COUNT] = count
        self._note()

    def unlink(self, rows: Int64s) -> None:
        """Take rows out of their lists."""
        _unlink(self._lists, self._links, rows)

    def seek(self, keys: Int64s) -> Found:
        """The list of each key. Rows linked later do not show in it."""
        heads, counts = _seek(self._slots, self._keys, self._lists, keys)
        return Found(heads, counts)

    def gather(self, found: Found, states: Int8s, want: int) -> Matches:
        """All rows of the lists whose state has the bits wanted."""
        queries, rows = _gather(found.heads, found.counts, self._links, states, want, int(found.counts.sum()))
        return Matches(queries, rows)

    def gather_some(self, found: Found, states: Int8s, want: int, most: int) -> tuple[Matches, Found]:
        """The first rows of each list whose state has the bits wanted, and what is left of the lists."""
        room = int(np.minimum(found.counts, most).sum())
        queries, rows, heads, counts = _gather_some(*found, self._links, states, want, most, room)
        return Matches(queries, rows), Found(heads, counts)

    def count_bytes(self, rows: int) -> int:
        """How much memory so many rows and their keys take here."""
        return rows * 12 + self.keys * (8 * self.columns.size + 16 + 32)

    @property
    def address(self) -> int:
        """Where its header lies."""
        return address_of(self.header)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another key."""
        return self.keys == len(self._keys)

    @property
    def keys(self) -> int:
        """About how many different keys there are."""
        return int(self.header[ListField.COUNT])

    def _link(self, codes: Int64s, rows: Int64s, start: int) -> int:
        table = self._slots, self._keys, self._lists, self._links
        index, self.header[ListField.COUNT] = _link(*table, self.keys, codes, self.columns, rows, start)
        return index

    def _note(self) -> None:
        arrays: Mapping[IntEnum, npt.NDArray[Any]] = {
            ListField.SLOTS: self._slots,
            ListField.KEYS: self._keys,
            ListField.LISTS: self._lists,
            ListField.LINKS: self._links,
            ListField.COLUMNS: self.columns,
        }
        for part, array in arrays.items():
            self.header[part] = address_of(array)
        self.header[ListField.SLOT_COUNT], self.header[ListField.ROOM] = self._slots.size, len(self._keys)
        self.header[ListField.ROWS], self.header[ListField.WIDTH] = len(self._links), self.columns.size


@kernel
def _link(slots, keys, lists, links, count, codes, columns, rows, start):
    """Link rows from ``start`` on; the index of the first for which there was no room, and how many keys there are."""
    key = np.empty((1, columns.size), np.int64)
    for index in range(start, rows.size):
        row = rows[index]
        for column in range(columns.size):
            key[0, column] = codes[row, columns[column]]
        after = link_row(slots, keys, lists, links, count, key, row)
        if after == NONE:
            return index, count
        count = after
    return rows.size, count


@inlined_kernel
def link_row(slots, keys, lists, links, count, key, row):
    """Put a row into the list of its key; how many keys there are then, or ``NONE`` if there is no room for it."""
    tag = tag_of(key, 0)
    slot = slot_of(slots, keys, key, 0, tag)
    if slots[slot] < 0:
        if count == len(keys):
            return NONE
        slots[slot] = (tag << 32) | count
        for column in range(keys.shape[1]):
            keys[count, column] = key[0, column]
        lists[count, HEAD], lists[count, COUNT] = NONE, 0
        count += 1
    entry = slots[slot] & _ROW
    head = lists[entry, HEAD]
    links[row, NEXT], links[row, _BEFORE], links[row, _ENTRY] = head, NONE, entry
    if head >= 0:
        links[head, _BEFORE] = row
    lists[entry, HEAD] = row
    lists[entry, COUNT] += 1
    return count


@kernel
def _unlink(lists, links, rows):
    for index in range(rows.size):
        row = rows[index]
        following, before, entry = links[row, NEXT], links[row, _BEFORE], links[row, _ENTRY]
        if before >= 0:
            links[before, NEXT] = following
        else:
            lists[entry, HEAD] = following
        if following >= 0:
            links[following, _BEFORE] = before
        lists[entry, COUNT] -= 1


@kernel
def _seek(slots, keys, lists, queries):
    heads, counts = np.full(len(queries), NONE, np.int64), np.zeros(len(queries), np.int64)
    for index in range(len(queries)):
        held = slots[slot_of(slots, keys, queries, index, tag_of(queries, index))]
        if held >= 0:
            heads[index], counts[index] = lists[held & _ROW, HEAD], lists[held & _ROW, COUNT]
    return heads, counts


@kernel
def _gather(heads, counts, links, states, want, total):
    queries, rows = np.empty(total, np.int64), np.empty(total, np.int64)
    found = 0
    for query in range(heads.size):
        row = heads[query]
        for _ in range(counts[query]):
            if states[row] & want == want:
                queries[found], rows[found] = query, row
                found += 1
            row = np.int64(links[row, NEXT])
    return queries[:found], rows[:found]


@kernel
def _gather_some(heads, counts, links, states, want, most, room):
    queries, rows = np.empty(room, np.int64), np.empty(room, np.int64)
    rest_heads, rest_counts = np.empty_like(heads), np.empty_like(counts)
    found = 0
    for query in range(heads.size):
        row, left, taken = heads[query], counts[query], 0
        while left > 0 and taken < most:
            if states[row] & want == want:
                queries[found], rows[found] = query, row
                found += 1
                taken += 1
            row = np.int64(links[row, NEXT])
            left -= 1
        rest_heads[query], rest_counts[query] = row, left
    return queries[:found], rows[:found], rest_heads, rest_counts


@kernel
def _move(keys, lists, count, slots, larger_keys, larger_lists, links):
    """Copy the entries that have rows into a larger table; how many there are."""
    moved = 0
    for entry in range(count):
        if lists[entry, COUNT] > 0:
            larger_keys[moved], larger_lists[moved] = keys[entry], lists[entry]
            tag = tag_of(larger_keys, moved)
            slot = tag & (slots.size - 1)
            while slots[slot] >= 0:
                slot = (slot + 1) & (slots.size - 1)
            slots[slot] = (tag << 32) | moved
            row = lists[entry, HEAD]
            for _ in range(lists[entry, COUNT]):
                links[row, _ENTRY] = moved
                row = np.int64(links[row, NEXT])
            moved += 1
    return moved
