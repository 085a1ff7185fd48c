"""Where boxes end inside a cell: lists of ends, in order, by axis, side and cell.

A list that is full moves to twice the room behind all others.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import GREATEST, Grid, cell_of
from skerry.model.arrays import Int32s, Int64s

__all__ = ["Borders", "borders_of", "ends_in", "enter", "has_room", "roomier_borders", "strike", "withdraw"]


_FIRST, _COUNT, _ROOM = range(3)
"""Of a list of ends: where it begins, how many there are, how many fit."""
_LOW, _HIGH = range(2)
_SHORTEST = 8


class Borders(NamedTuple):
    """Ends inside cells, in order."""

    heads: Int64s
    """Axis by side by cell: first, count, room."""
    codes: Int64s
    slots: Int32s
    used: Int64s
    """How much of the two is given out."""


def borders_of(grid: Grid, bounds: Int64s) -> Borders:
    """The ends of boxes, each in the list of its cell."""
    axes, cells = grid.starts.shape
    heads = np.zeros((axes, 2, cells, 3), np.int64)
    _count_ends(grid.starts, grid.counts, bounds, heads)
    heads[..., _ROOM] = heads[..., _COUNT] + heads[..., _COUNT] // 4 + _SHORTEST
    ends = np.cumsum(heads[..., _ROOM].ravel())
    heads[..., _FIRST] = ends.reshape(heads.shape[:3]) - heads[..., _ROOM]
    size = int(ends[-1]) if ends.size else 0
    borders = Borders(heads, np.empty(2 * size, np.int64), np.empty(2 * size, np.int32), np.array([size]))
    for axis in range(axes):
        for side in (_LOW, _HIGH):
            order = np.argsort(bounds[:, axes * side + axis], kind="stable")
            _list_ends(grid.starts, grid.counts, bounds, order, axis, side, borders)
    return borders


def roomier_borders(borders: Borders) -> Borders:
    """The same borders, with room behind them for as much again."""
    return borders._replace(
        codes=np.concatenate([borders.codes, np.empty_like(borders.codes)]),
        slots=np.concatenate([borders.slots, np.empty_like(borders.slots)]),
    )


@kernel
def _is_inside(starts, count, cell, code, side):
    """Whether a cell goes on beyond a box's end."""
    if side == _LOW:
        return code > starts[cell]
    return code < (starts[cell + 1] - 1 if cell + 1 < count else GREATEST)


@kernel
def _count_ends(starts, counts, bounds, heads):
    axes = starts.shape[0]
    heads[:, :, :, _COUNT] = 0
    for slot in range(bounds.shape[0]):
        for axis in range(axes):
            for side in range(2):
                code = bounds[slot, axes * side + axis]
                cell = cell_of(starts[axis], counts[axis], code)
                heads[axis, side, cell, _COUNT] += _is_inside(starts[axis], counts[axis], cell, code, side)


@kernel
def _list_ends(starts, counts, bounds, order, axis, side, borders):
    heads, codes, slots, _ = borders
    heads[axis, side, :, _COUNT] = 0
    for slot in order:
        code = bounds[slot, starts.shape[0] * side + axis]
        cell = cell_of(starts[axis], counts[axis], code)
        if _is_inside(starts[axis], counts[axis], cell, code, side):
            head = heads[axis, side, cell]
            codes[head[_FIRST] + head[_COUNT]] = code
            slots[head[_FIRST] + head[_COUNT]] = slot
            head[_COUNT] += 1


@kernel
def has_room(starts, counts, bound, borders):
    """Whether every list that takes an end of a box has room, or can be moved to where there is."""
    heads, codes, _, used = borders
    axes, needed = starts.shape[0], used[0]
    for axis in range(axes):
        for side in range(2):
            cell = cell_of(starts[axis], counts[axis], bound[axes * side + axis])
            head = heads[axis, side, cell]
            needed += 2 * head[_ROOM] if head[_COUNT] == head[_ROOM] else 0
    return needed <= codes.size


@kernel
def enter(starts, counts, bound, slot, borders):
    """List the ends of a box that lie inside cells."""
    axes = starts.shape[0]
    for axis in range(axes):
        for side in range(2):
            code = bound[axes * side + axis]
            cell = cell_of(starts[axis], counts[axis], code)
            if _is_inside(starts[axis], counts[axis], cell, code, side):
                _insert(borders, axis, side, cell, code, slot)


@kernel
def withdraw(starts, counts, bound, slot, borders):
    """Take the ends of a box out of their borders."""
    axes = starts.shape[0]
    heads, codes, slots, _ = borders
    for axis in range(axes):
        for side in range(2):
            code = bound[axes * side + axis]
            cell = cell_of(starts[axis], counts[axis], code)
            if _is_inside(starts[axis], counts[axis], cell, code, side):
                head = heads[axis, side, cell]
                place = head[_FIRST]
                while slots[place] != slot:
                    place += 1
                head[_COUNT] -= 1
                for later in range(place, head[_FIRST] + head[_COUNT]):
                    codes[later] = codes[later + 1]
                    slots[later] = slots[later + 1]


@kernel
def _insert(borders, axis, side, cell, code, slot):
    heads, codes, slots, used = borders
    head = heads[axis, side, cell]
    if head[_COUNT] == head[_ROOM]:
        first = used[0]
        used[0] += 2 * head[_ROOM]
        for place in range(head[_COUNT]):
            codes[first + place] = codes[head[_FIRST] + place]
            slots[first + place] = slots[head[_FIRST] + place]
        head[_FIRST] = first
        head[_ROOM] *= 2
    place = head[_FIRST] + head[_COUNT]
    head[_COUNT] += 1
    while place > head[_FIRST] and codes[place - 1] > code:
        codes[place] = codes[place - 1]
        slots[place] = slots[place - 1]
        place -= 1
    codes[place] = code
    slots[place] = slot


@kernel
def strike(borders, points, cells, row, found):
    """Strike out the boxes that end before a point within its cell, or begin behind it."""
    heads, codes, slots, _ = borders
    for axis in range(points.shape[0]):
        code = points[axis, row]
        head = heads[axis, _LOW, cells[axis, row]]
        place = head[_FIRST] + head[_COUNT] - 1
        while place >= head[_FIRST] and codes[place] > code:
            found[slots[place] >> 6] &= ~(np.uint64(1) << np.uint64(slots[place] & 63))
            place -= 1
        head = heads[axis, _HIGH, cells[axis, row]]
        place = head[_FIRST]
        while place < head[_FIRST] + head[_COUNT] and codes[place] < code:
            found[slots[place] >> 6] &= ~(np.uint64(1) << np.uint64(slots[place] & 63))
            place += 1


@kernel
def ends_in(borders, cells, row):
    """How many ends lie in the cells of a point."""
    ends = 0
    for axis in range(cells.shape[0]):
        for side in range(2):
            ends += borders.heads[axis, side, cells[axis, row], _COUNT]
    return ends
