"""Finds and adds rows one at a time: kernels reach row sets and postings by the addresses of their headers.

Arrays move when they grow; a header stays where it is for as long as its set is held. A key is given by the address of
its codes. The caller asks first whether there is room (``lacks_rows``, ``lacks_keys``).
"""

import numpy as np

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.array_address import array_at
from skerry.kernels.rules.postings import COUNT, HEAD, ListField, link_row
from skerry.kernels.rules.row_set import NONE, RowField, slot_of, tag_of

__all__ = ["add_row", "enter_list", "find_list", "find_row", "lacks_keys", "lacks_rows"]

_ROW = (1 << 32) - 1
_ROW_FIELDS, _LIST_FIELDS = (len(RowField),), (len(ListField),)


@inlined_kernel
def find_row(address, key_address):
    """The row of a key, whatever its state, or ``NONE``."""
    header = array_at(address, _ROW_FIELDS, np.int64)
    key = array_at(key_address, (1, header[RowField.WIDTH]), np.int64)
    codes = array_at(header[RowField.CODES], (header[RowField.ROOM], header[RowField.WIDTH]), np.int64)
    slots = array_at(header[RowField.SLOTS], (header[RowField.SLOT_COUNT],), np.int64)
    held = slots[slot_of(slots, codes, key, 0, tag_of(key, 0))]
    return held & _ROW if held >= 0 else NONE


@inlined_kernel
def lacks_rows(address):
    """Whether there is no room for another row."""
    header = array_at(address, _ROW_FIELDS, np.int64)
    return header[RowField.FREED] == 0 and header[RowField.COUNT] == header[RowField.ROOM]


@inner_kernel
def add_row(address, key_address):
    """Take in a row that is not there, in no state."""
    header = array_at(address, _ROW_FIELDS, np.int64)
    width, room = header[RowField.WIDTH], header[RowField.ROOM]
    if header[RowField.FREED] > 0:
        header[RowField.FREED] -= 1
        row = array_at(header[RowField.FREE], (header[RowField.FREED] + 1,), np.int64)[header[RowField.FREED]]
    else:
        row = header[RowField.COUNT]
        header[RowField.COUNT] += 1
    key = array_at(key_address, (1, width), np.int64)
    codes = array_at(header[RowField.CODES], (room, width), np.int64)
    slots = array_at(header[RowField.SLOTS], (header[RowField.SLOT_COUNT],), np.int64)
    tag = tag_of(key, 0)
    slots[slot_of(slots, codes, key, 0, tag)] = (tag << 32) | row
    for column in range(width):
        codes[row, column] = key[0, column]
    array_at(header[RowField.STATES], (room,), np.int8)[row] = 0
    return row


@inlined_kernel
def find_list(address, key_address):
    """The list of a key: its newest row, and how many."""
    header = array_at(address, _LIST_FIELDS, np.int64)
    key = array_at(key_address, (1, header[ListField.WIDTH]), np.int64)
    keys = array_at(header[ListField.KEYS], (header[ListField.ROOM], header[ListField.WIDTH]), np.int64)
    slots = array_at(header[ListField.SLOTS], (header[ListField.SLOT_COUNT],), np.int64)
    held = slots[slot_of(slots, keys, key, 0, tag_of(key, 0))]
    if held < 0:
        return NONE, 0
    lists = array_at(header[ListField.LISTS], (header[ListField.ROOM], 2), np.int64)
    return lists[held & _ROW, HEAD], lists[held & _ROW, COUNT]


@inlined_kernel
def lacks_keys(address, row_address):
    """Whether there may be no room for the key of another row, or for the row in a list."""
    header, rows = array_at(address, _LIST_FIELDS, np.int64), array_at(row_address, _ROW_FIELDS, np.int64)
    return header[ListField.COUNT] == header[ListField.ROOM] or header[ListField.ROWS] < rows[RowField.ROOM]


@inner_kernel
def enter_list(address, row_address, row, key_address):
    """Put a row of a set into its list; what lies at the key's address is lost."""
    header, rows = array_at(address, _LIST_FIELDS, np.int64), array_at(row_address, _ROW_FIELDS, np.int64)
    width, room = header[ListField.WIDTH], header[ListField.ROOM]
    columns, key = array_at(header[ListField.COLUMNS], (width,), np.int64), array_at(key_address, (1, width), np.int64)
    codes = array_at(rows[RowField.CODES], (rows[RowField.ROOM], rows[RowField.WIDTH]), np.int64)
    for index in range(width):
        key[0, index] = codes[row, columns[index]]
    slots = array_at(header[ListField.SLOTS], (header[ListField.SLOT_COUNT],), np.int64)
    keys = array_at(header[ListField.KEYS], (room, width), np.int64)
    lists = array_at(header[ListField.LISTS], (room, 2), np.int64)
    links = array_at(header[ListField.LINKS], (header[ListField.ROWS], 3), np.int32)
    header[ListField.COUNT] = link_row(slots, keys, lists, links, header[ListField.COUNT], key, row)
