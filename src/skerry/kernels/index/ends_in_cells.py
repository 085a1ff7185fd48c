"""Where boxes end inside a cell: lists of ends, in order, by axis, side and cell.

A list that is full moves to twice the room behind all others.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import GREATEST, Grid, cell_of
from skerry.model.arrays import Int32s, Int64s

__all__ = ["CellEnds", "count_ends", "grow_ends", "has_room", "insert_ends", "list_ends", "remove_ends", "strike_out"]


_FIRST, _COUNT, _ROOM = range(3)
"""Of a list of ends: where it begins, how many there are, how many fit."""
_LOW, _HIGH = range(2)
_SHORTEST = 8


class CellEnds(NamedTuple):
    """Lists of ends, each in order of codes."""

    heads: Int64s
    """Axis by side by cell: first, count, room."""
    codes: Int64s
    slots: Int32s
    used: Int64s
    """How much room of ``codes`` and ``slots`` is given to lists."""


def list_ends(grid: Grid, bounds: Int64s) -> CellEnds:
    """List the ends of boxes, each with its cell."""
    axes, cells = grid.starts.shape
    heads = np.zeros((axes, 2, cells, 3), np.int64)
    _count_per_list(grid.starts, grid.counts, bounds, heads)
    heads[..., _ROOM] = heads[..., _COUNT] + heads[..., _COUNT] // 4 + _SHORTEST
    ends = np.cumsum(heads[..., _ROOM].ravel())
    heads[..., _FIRST] = ends.reshape(heads.shape[:3]) - heads[..., _ROOM]
    size = int(ends[-1]) if ends.size else 0
    cell_ends = CellEnds(heads, np.empty(2 * size, np.int64), np.empty(2 * size, np.int32), np.array([size]))
    for axis in range(axes):
        for side in (_LOW, _HIGH):
            order = np.argsort(bounds[:, axes * side + axis], kind="stable")
            _fill_lists(grid.starts, grid.counts, bounds, order, axis, side, cell_ends)
    return cell_ends


def grow_ends(cell_ends: CellEnds) -> CellEnds:
    """The same lists, with room behind them for as much again."""
    return cell_ends._replace(
        codes=np.concatenate([cell_ends.codes, np.empty_like(cell_ends.codes)]),
        slots=np.concatenate([cell_ends.slots, np.empty_like(cell_ends.slots)]),
    )


@kernel
def _is_inside(starts, count, cell, code, side):
    """Whether a cell goes on beyond a box's end."""
    if side == _LOW:
        return code > starts[cell]
    return code < (starts[cell + 1] - 1 if cell + 1 < count else GREATEST)


@kernel
def _count_per_list(starts, counts, bounds, heads):
    axes = starts.shape[0]
    heads[:, :, :, _COUNT] = 0
    for slot in range(bounds.shape[0]):
        for axis in range(axes):
            for side in range(2):
                code = bounds[slot, axes * side + axis]
                cell = cell_of(starts[axis], counts[axis], code)
                heads[axis, side, cell, _COUNT] += _is_inside(starts[axis], counts[axis], cell, code, side)


@kernel
def _fill_lists(starts, counts, bounds, order, axis, side, cell_ends):
    heads, codes, slots, _ = cell_ends
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
def has_room(starts, counts, bound, cell_ends):
    """Whether every list that takes an end of a box has room, or can be moved to where there is."""
    heads, codes, _, used = cell_ends
    axes, needed = starts.shape[0], used[0]
    for axis in range(axes):
        for side in range(2):
            cell = cell_of(starts[axis], counts[axis], bound[axes * side + axis])
            head = heads[axis, side, cell]
            needed += 2 * head[_ROOM] if head[_COUNT] == head[_ROOM] else 0
    return needed <= codes.size


@kernel
def insert_ends(starts, counts, bound, slot, cell_ends):
    """List the ends of a box that lie inside cells."""
    axes = starts.shape[0]
    for axis in range(axes):
        for side in range(2):
            code = bound[axes * side + axis]
            cell = cell_of(starts[axis], counts[axis], code)
            if _is_inside(starts[axis], counts[axis], cell, code, side):
                _insert(cell_ends, axis, side, cell, code, slot)


@kernel
def remove_ends(starts, counts, bound, slot, cell_ends):
    """Take the ends of a box out of their lists."""
    axes = starts.shape[0]
    heads, codes, slots, _ = cell_ends
    for axis in range(axes):
        for side in range(2):
            code = bound[axes * side + axis]
            cell = cell_of(starts[axis], counts[axis], code)
            if _is_inside(starts[axis], counts[axis], cell, code, side):
                head = heads[axis, side, cell]
                at = head[_FIRST]
                while slots[at] != slot:
                    at += 1
                head[_COUNT] -= 1
                for later in range(at, head[_FIRST] + head[_COUNT]):
                    codes[later] = codes[later + 1]
                    slots[later] = slots[later + 1]


@kernel
def _insert(cell_ends, axis, side, cell, code, slot):
    heads, codes, slots, used = cell_ends
    head = heads[axis, side, cell]
    if head[_COUNT] == head[_ROOM]:
        first = used[0]
        used[0] += 2 * head[_ROOM]
        for at in range(head[_COUNT]):
            codes[first + at] = codes[head[_FIRST] + at]
            slots[first + at] = slots[head[_FIRST] + at]
        head[_FIRST] = first
        head[_ROOM] *= 2
    at = head[_FIRST] + head[_COUNT]
    head[_COUNT] += 1
    while at > head[_FIRST] and codes[at - 1] > code:
        codes[at] = codes[at - 1]
        slots[at] = slots[at - 1]
        at -= 1
    codes[at] = code
    slots[at] = slot


@kernel
def strike_out(cell_ends, points, cells, row, found):
    """Strike out the boxes that end before a point within its cell, or begin behind it."""
    heads, codes, slots, _ = cell_ends
    for axis in range(points.shape[0]):
        code = points[axis, row]
        head = heads[axis, _LOW, cells[axis, row]]
        at = head[_FIRST] + head[_COUNT] - 1
        while at >= head[_FIRST] and codes[at] > code:
            found[slots[at] >> 6] &= ~(np.uint64(1) << np.uint64(slots[at] & 63))
            at -= 1
        head = heads[axis, _HIGH, cells[axis, row]]
        at = head[_FIRST]
        while at < head[_FIRST] + head[_COUNT] and codes[at] < code:
            found[slots[at] >> 6] &= ~(np.uint64(1) << np.uint64(slots[at] & 63))
            at += 1


@kernel
def count_ends(cell_ends, cells, row):
    """How many ends lie in the cells of a point."""
    ends = 0
    for axis in range(cells.shape[0]):
        for side in range(2):
            ends += cell_ends.heads[axis, side, cells[axis, row], _COUNT]
    return ends
