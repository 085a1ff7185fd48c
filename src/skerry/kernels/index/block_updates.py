"""Which block a box goes into, and how a full block is halved."""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.clusters import choose_cut, partition
from skerry.kernels.index.grid import GREATEST, LEAST, cell_of
from skerry.kernels.index.simd_compare import WIDTH
from skerry.model.arrays import Int32s, Int64s, UInt16s, UInt64s

__all__ = ["BEYOND", "BLOCK", "BlockArrays", "add_box", "fill_blocks", "remove_box"]


BLOCK = WIDTH
BEYOND = 2**16 - 1
"""Above the cells of all axes."""
_FIRST, _LAST = range(2)


class BlockArrays(NamedTuple):
    """The arrays that hold blocks; kernels write to them."""

    lows: Int64s
    """Block by slot by axis."""
    highs: Int64s
    firsts: UInt16s
    """Block by axis by slot: the cell of a low; ``BEYOND`` if there is no box, or none can be between its ends."""
    lasts: UInt16s
    """The cell of a high; 0 if there is no box."""
    labels: Int32s
    """Block by slot: the number of the box, or -1."""
    extents: Int32s
    """Block by axis: the first and the last cell that its boxes meet; the last is below the first if there is none."""
    bounded: UInt64s
    """A bit for each axis on which a box of a block has an end, the last for all from 63 on; axis 0 if it has none."""
    bits: UInt64s
    """Axis by cell by word: the blocks that meet a cell."""
    positions: Int64s
    """By number of a box: its block times 64, plus its slot; or -1."""
    used: Int64s
    """How many blocks are in use."""


@kernel
def fill_blocks(starts, counts, blocks, lows, highs, numbers, order, firsts):
    """Put boxes into empty blocks: ``order`` lists them, and block b has those from ``firsts[b]`` on."""
    for block in range(firsts.size - 1):
        for index in range(firsts[block], firsts[block + 1]):
            box, slot = order[index], index - firsts[block]
            _put(starts, counts, blocks, block, slot, numbers[box], lows[:, box], highs[:, box])
        _mark_cells(starts.shape[1], blocks, block)


@kernel
def _put(starts, counts, blocks, block, slot, number, low, high):
    blocks.labels[block, slot] = number
    blocks.positions[number] = block * BLOCK + slot
    for axis in range(low.size):
        blocks.lows[block, slot, axis] = low[axis]
        blocks.highs[block, slot, axis] = high[axis]
        if low[axis] <= high[axis]:
            blocks.firsts[block, axis, slot] = cell_of(starts[axis], counts[axis], low[axis])
            blocks.lasts[block, axis, slot] = cell_of(starts[axis], counts[axis], high[axis])
        else:
            blocks.firsts[block, axis, slot], blocks.lasts[block, axis, slot] = BEYOND, 0


@kernel
def _clear(blocks, block, slot):
    blocks.labels[block, slot] = -1
    blocks.firsts[block, :, slot] = BEYOND
    blocks.lasts[block, :, slot] = 0


@kernel
def _mark_cells(cells, blocks, block):
    """Find the cells that the boxes of a block meet, and set its bits there alone."""
    bit, word = np.uint64(1) << np.uint64(block & 63), block >> 6
    turns = np.zeros(cells + 1, np.int64)
    blocks.bounded[block] = 0
    for axis in range(blocks.lows.shape[2]):
        first, last, bounded = cells, -1, False
        for slot in range(BLOCK):
            open_ended = blocks.lows[block, slot, axis] == LEAST and blocks.highs[block, slot, axis] == GREATEST
            bounded |= blocks.labels[block, slot] >= 0 and not open_ended
            low, high = int(blocks.firsts[block, axis, slot]), int(blocks.lasts[block, axis, slot])
            if low <= high:
                turns[low] += 1
                turns[high + 1] -= 1
                first, last = min(first, low), max(last, high)
        for cell in range(blocks.extents[block, axis, _FIRST], blocks.extents[block, axis, _LAST] + 1):
            blocks.bits[axis, cell, word] &= ~bit
        blocks.bounded[block] |= np.uint64(bounded) << np.uint64(min(axis, 63))
        meeting = 0
        for cell in range(first, last + 1):
            meeting += turns[cell]
            turns[cell] = 0
            if meeting > 0:
                blocks.bits[axis, cell, word] |= bit
        turns[last + 1] = 0
        blocks.extents[block, axis, _FIRST], blocks.extents[block, axis, _LAST] = first, last
    if blocks.bounded[block] == 0:
        blocks.bounded[block] = 1


@kernel
def add_box(starts, counts, blocks, number, low, high):
    """Put a box into the block that it widens least, which is halved if it is full."""
    cells = np.empty((low.size, 2), np.int32)
    for axis in range(low.size):
        cells[axis, _FIRST] = cell_of(starts[axis], counts[axis], low[axis])
        cells[axis, _LAST] = cell_of(starts[axis], counts[axis], high[axis])
    block = _find_nearest(counts, blocks, cells)
    slot = _find_free_slot(blocks, block)
    if slot == BLOCK:
        other = blocks.used[0]
        blocks.used[0] += 1
        _halve(starts, counts, blocks, block, other)
        _mark_cells(starts.shape[1], blocks, other)
        _mark_cells(starts.shape[1], blocks, block)
        if _widening_by(counts, blocks.extents[other], cells) < _widening_by(counts, blocks.extents[block], cells):
            block = other
        slot = _find_free_slot(blocks, block)
    _put(starts, counts, blocks, block, slot, number, low, high)
    _mark_cells(starts.shape[1], blocks, block)


@kernel
def _find_free_slot(blocks, block):
    slot = 0
    while slot < BLOCK and blocks.labels[block, slot] >= 0:
        slot += 1
    return slot


@kernel
def _find_nearest(counts, blocks, cells):
    """The block that a box widens least; the first, if there is none yet."""
    if blocks.used[0] == 0:
        blocks.used[0] = 1
    nearest, least = 0, np.inf
    for block in range(blocks.used[0]):
        widening = _widening_by(counts, blocks.extents[block], cells)
        if widening < least:
            nearest, least = block, widening
    return nearest


@kernel
def _widening_by(counts, extents, cells):
    """By how much the fraction of cells that a block meets grows with a box; a small block is preferred on ties."""
    now, then = 1.0, 1.0
    for axis in range(counts.size):
        first, last = extents[axis, _FIRST], extents[axis, _LAST]
        now *= max(last - first + 1, 0) / counts[axis]
        then *= (max(last, cells[axis, _LAST]) - min(first, cells[axis, _FIRST]) + 1) / counts[axis]
    return then - now + now * 1e-3


@kernel
def _halve(starts, counts, blocks, block, other):
    """Move half of the boxes of a full block into an empty one."""
    axes = starts.shape[0]
    bounds = np.empty((2 * axes, BLOCK), np.int64)
    cells = np.empty((2 * axes, BLOCK), np.int32)
    for axis in range(axes):
        for slot in range(BLOCK):
            bounds[axis, slot] = blocks.lows[block, slot, axis]
            bounds[axes + axis, slot] = blocks.highs[block, slot, axis]
            cells[axis, slot] = cell_of(starts[axis], counts[axis], bounds[axis, slot])
            cells[axes + axis, slot] = cell_of(starts[axis], counts[axis], bounds[axes + axis, slot])
    order = np.arange(BLOCK)
    cut = choose_cut(cells, order, 0, BLOCK)
    if cut >= 0:
        partition(bounds[cut], order, 0, BLOCK, BLOCK // 2)
    for index in range(BLOCK // 2, BLOCK):
        slot = order[index]
        number = blocks.labels[block, slot]
        _clear(blocks, block, slot)
        _put(starts, counts, blocks, other, index - BLOCK // 2, number, bounds[:axes, slot], bounds[axes:, slot])


@kernel
def remove_box(cells, blocks, number):
    """Take a box out of its block."""
    position = blocks.positions[number]
    blocks.positions[number] = -1
    _clear(blocks, position // BLOCK, position % BLOCK)
    _mark_cells(cells, blocks, position // BLOCK)
