"""Sets of rows and their postings, a row at a time, reached by the addresses of their sheets.

Arrays move when they grow; a sheet stays where it is for as long as its set is held. A key is given by where its
cells lie. Whoever adds a row has asked before whether there is room.
"""

import numpy as np

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.address import array_at
from skerry.kernels.rules.postings import COUNT, HEAD, ListPart, link_row
from skerry.kernels.rules.row_set import NONE, RowPart, slot_of, tag_of

__all__ = ["add_row", "enter_list", "find_list", "find_row", "lacks_keys", "lacks_rows"]

_ROW = (1 << 32) - 1
_PARTS, _LIST_PARTS = (len(RowPart),), (len(ListPart),)


@inlined_kernel
def find_row(address, key_address):
    """The row of a key, whatever its state, or ``NONE``."""
    sheet = array_at(address, _PARTS, np.int64)
    key = array_at(key_address, (1, sheet[RowPart.WIDTH]), np.int64)
    cells = array_at(sheet[RowPart.CELLS], (sheet[RowPart.ROOM], sheet[RowPart.WIDTH]), np.int64)
    slots = array_at(sheet[RowPart.SLOTS], (sheet[RowPart.SLOT_COUNT],), np.int64)
    held = slots[slot_of(slots, cells, key, 0, tag_of(key, 0))]
    return held & _ROW if held >= 0 else NONE


@inlined_kernel
def lacks_rows(address):
    """Whether there is no room for another row."""
    sheet = array_at(address, _PARTS, np.int64)
    return sheet[RowPart.FREED] == 0 and sheet[RowPart.COUNT] == sheet[RowPart.ROOM]


@inner_kernel
def add_row(address, key_address):
    """Take in a row that is not there, in no state."""
    sheet = array_at(address, _PARTS, np.int64)
    width, room = sheet[RowPart.WIDTH], sheet[RowPart.ROOM]
    if sheet[RowPart.FREED] > 0:
        sheet[RowPart.FREED] -= 1
        row = array_at(sheet[RowPart.FREE], (sheet[RowPart.FREED] + 1,), np.int64)[sheet[RowPart.FREED]]
    else:
        row = sheet[RowPart.COUNT]
        sheet[RowPart.COUNT] += 1
    key = array_at(key_address, (1, width), np.int64)
    cells = array_at(sheet[RowPart.CELLS], (room, width), np.int64)
    slots = array_at(sheet[RowPart.SLOTS], (sheet[RowPart.SLOT_COUNT],), np.int64)
    tag = tag_of(key, 0)
    slots[slot_of(slots, cells, key, 0, tag)] = (tag << 32) | row
    for column in range(width):
        cells[row, column] = key[0, column]
    array_at(sheet[RowPart.STATES], (room,), np.int8)[row] = 0
    return row


@inlined_kernel
def find_list(address, key_address):
    """The list of a key: its newest row, and how many."""
    sheet = array_at(address, _LIST_PARTS, np.int64)
    key = array_at(key_address, (1, sheet[ListPart.WIDTH]), np.int64)
    keys = array_at(sheet[ListPart.KEYS], (sheet[ListPart.ROOM], sheet[ListPart.WIDTH]), np.int64)
    slots = array_at(sheet[ListPart.SLOTS], (sheet[ListPart.SLOT_COUNT],), np.int64)
    held = slots[slot_of(slots, keys, key, 0, tag_of(key, 0))]
    if held < 0:
        return NONE, 0
    lists = array_at(sheet[ListPart.LISTS], (sheet[ListPart.ROOM], 2), np.int64)
    return lists[held & _ROW, HEAD], lists[held & _ROW, COUNT]


@inlined_kernel
def lacks_keys(address, row_address):
    """Whether there may be no room for the key of another row, or for its place in a list."""
    sheet, rows = array_at(address, _LIST_PARTS, np.int64), array_at(row_address, _PARTS, np.int64)
    return sheet[ListPart.COUNT] == sheet[ListPart.ROOM] or sheet[ListPart.ROWS] < rows[RowPart.ROOM]


@inner_kernel
def enter_list(address, row_address, row, key_address):
    """Put a row of a set into its list; what lies at the key's address is lost."""
    sheet, rows = array_at(address, _LIST_PARTS, np.int64), array_at(row_address, _PARTS, np.int64)
    width, room = sheet[ListPart.WIDTH], sheet[ListPart.ROOM]
    columns, key = array_at(sheet[ListPart.COLUMNS], (width,), np.int64), array_at(key_address, (1, width), np.int64)
    cells = array_at(rows[RowPart.CELLS], (rows[RowPart.ROOM], rows[RowPart.WIDTH]), np.int64)
    for place in range(width):
        key[0, place] = cells[row, columns[place]]
    slots = array_at(sheet[ListPart.SLOTS], (sheet[ListPart.SLOT_COUNT],), np.int64)
    keys = array_at(sheet[ListPart.KEYS], (room, width), np.int64)
    lists = array_at(sheet[ListPart.LISTS], (room, 2), np.int64)
    links = array_at(sheet[ListPart.LINKS], (sheet[ListPart.ROWS], 3), np.int32)
    sheet[ListPart.COUNT] = link_row(slots, keys, lists, links, sheet[ListPart.COUNT], key, row)
