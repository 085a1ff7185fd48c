"""Which rows of a set hold a given value in some columns: a hash table from keys to lists of rows.

    key ──► entry: newest row, how many ──► row ⇄ row ⇄ row

A list is doubly linked, so that a row leaves it at once; a new row costs a step. Entries whose lists are empty are
cleared away when there is no room for a new one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels.rules.rows import NONE, slot_of, tag_of

__all__ = ["Found", "Matches", "Postings"]

Int8s = npt.NDArray[np.int8]
Int64s = npt.NDArray[np.int64]

_FEWEST = 16
_HEAD, _COUNT = range(2)
_NEXT, _BEFORE, _ENTRY = range(3)
_ROW = (1 << 32) - 1


class Found(NamedTuple):
    """Lists found, one a query."""

    heads: Int64s
    counts: Int64s


class Matches(NamedTuple):
    """Pairs of a query and a row."""

    queries: Int64s
    rows: Int64s


class Postings:
    """Lists of rows by the values of some columns.

    >>> cells = np.array([[7, 1], [8, 2], [7, 3]])
    >>> postings = Postings(np.array([0]))
    >>> postings.link(cells, np.arange(3))
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
        self._count = 0

    def link(self, cells: Int64s, rows: Int64s) -> None:
        """Put rows into their lists."""
        if len(self._links) < len(cells):
            links = np.empty((len(cells), 3), np.int32)
            links[: len(self._links)] = self._links
            self._links = links
        place = self._link(cells, rows, 0)
        while place < rows.size:
            self._grow()
            place = self._link(cells, rows, place)

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

    @property
    def keys(self) -> int:
        """About how many different keys there are."""
        return self._count

    def _link(self, cells: Int64s, rows: Int64s, start: int) -> int:
        table = self._slots, self._keys, self._lists, self._links
        place, self._count = _link(*table, self._count, cells, self.columns, rows, start)
        return place

    def _grow(self) -> None:
        size = 2 * max(_FEWEST, int(np.count_nonzero(self._lists[: self._count, _COUNT])))
        keys, lists = np.zeros((size, self.columns.size), np.int64), np.zeros((size, 2), np.int64)
        slots = np.full(1 << (4 * size - 1).bit_length(), NONE, np.int64)
        self._count = _move(self._keys, self._lists, self._count, slots, keys, lists, self._links)
        self._slots, self._keys, self._lists = slots, keys, lists


@kernel
def _link(slots, keys, lists, links, count, cells, columns, rows, start):
    """Link rows from ``start`` on; the place of the first for which there was no room, and how many keys there are."""
    key = np.empty((1, columns.size), np.int64)
    for place in range(start, rows.size):
        row = rows[place]
        for column in range(columns.size):
            key[0, column] = cells[row, columns[column]]
        tag = tag_of(key, 0)
        slot = slot_of(slots, keys, key, 0, tag)
        if slots[slot] < 0:
            if count == len(keys):
                return place, count
            slots[slot] = (tag << 32) | count
            keys[count] = key[0]
            lists[count, _HEAD], lists[count, _COUNT] = NONE, 0
            count += 1
        entry = slots[slot] & _ROW
        head = lists[entry, _HEAD]
        links[row, _NEXT], links[row, _BEFORE], links[row, _ENTRY] = head, NONE, entry
        if head >= 0:
            links[head, _BEFORE] = row
        lists[entry, _HEAD] = row
        lists[entry, _COUNT] += 1
    return rows.size, count


@kernel
def _unlink(lists, links, rows):
    for place in range(rows.size):
        row = rows[place]
        following, before, entry = links[row, _NEXT], links[row, _BEFORE], links[row, _ENTRY]
        if before >= 0:
            links[before, _NEXT] = following
        else:
            lists[entry, _HEAD] = following
        if following >= 0:
            links[following, _BEFORE] = before
        lists[entry, _COUNT] -= 1


@kernel
def _seek(slots, keys, lists, queries):
    heads, counts = np.full(len(queries), NONE, np.int64), np.zeros(len(queries), np.int64)
    for place in range(len(queries)):
        held = slots[slot_of(slots, keys, queries, place, tag_of(queries, place))]
        if held >= 0:
            heads[place], counts[place] = lists[held & _ROW, _HEAD], lists[held & _ROW, _COUNT]
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
            row = np.int64(links[row, _NEXT])
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
            row = np.int64(links[row, _NEXT])
            left -= 1
        rest_heads[query], rest_counts[query] = row, left
    return queries[:found], rows[:found], rest_heads, rest_counts


@kernel
def _move(keys, lists, count, slots, larger_keys, larger_lists, links):
    """Copy the entries that have rows into a larger table; how many there are."""
    moved = 0
    for entry in range(count):
        if lists[entry, _COUNT] > 0:
            larger_keys[moved], larger_lists[moved] = keys[entry], lists[entry]
            tag = tag_of(larger_keys, moved)
            slot = tag & (slots.size - 1)
            while slots[slot] >= 0:
                slot = (slot + 1) & (slots.size - 1)
            slots[slot] = (tag << 32) | moved
            row = lists[entry, _HEAD]
            for _ in range(lists[entry, _COUNT]):
                links[row, _ENTRY] = moved
                row = np.int64(links[row, _NEXT])
            moved += 1
    return moved
