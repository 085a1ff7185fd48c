"""Boxes in blocks of 64 neighbours: bitmaps say which blocks a point's cells meet, and these are tested whole.

    cell 5 of speed    blocks  0 1 0 0 1 ...      AND-ed over the axes: few are left
    block 4            the cells of the lows and highs of 64 boxes, axis by axis: one comparison for many boxes at once

A box whose first and last cells the point is not in is decided by cells alone; otherwise its ends are looked at.
A point costs one bit per block and axis, and a test of each block that it may be in: right for boxes that few
points are in, however many there are. A new box goes into the block that it widens least; a full block is halved.
"""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.bits import FULL, lowest_bit, meet
from skerry.kernels.index.block_updates import BEYOND, BLOCK, BlockArrays, add_box, fill_blocks, remove_box
from skerry.kernels.index.clusters import cluster_boxes
from skerry.kernels.index.grid import GREATEST, LEAST, Grid, cells_of
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.kernels.index.simd_compare import strictly_within, within
from skerry.model.arrays import Int32s, Int64s, UInt64s

__all__ = ["FILL", "BoxBlocks"]


FILL = 56
"""How many boxes a block has at first: not all 64, lest the next one split it."""
_FEWEST_BLOCKS = 64


class BoxBlocks:
    """Boxes over the axes of a grid, under numbers of the caller's choice, which must not be large.

    >>> from skerry.kernels.index.grid import build_grid
    >>> lows, highs = np.array([[0, 5]]), np.array([[7, 9]])
    >>> blocks = BoxBlocks(build_grid(lows, highs, 4), lows, highs, np.array([10, 11]))
    >>> rows, numbers = blocks.match(np.array([[3, 6]]))
    >>> rows.tolist(), numbers.tolist()
    ([0, 1, 1], [10, 10, 11])
    """

    def __init__(self, grid: Grid, lows: Int64s, highs: Int64s, numbers: Int64s, firsts: Int64s | None = None) -> None:
        """With ``firsts``, boxes come block by block, and it says where each begins, and where the last ends."""
        axes = grid.starts.shape[0]
        if not (lows.shape == highs.shape == (axes, numbers.size)):
            raise KernelError("boxes do not fit their grid or numbers:", lows.shape, highs.shape, numbers.size, axes)
        if grid.cells > BEYOND:
            raise KernelError("blocks know few cells an axis:", grid.cells, BEYOND)
        self.grid = grid
        order = np.arange(numbers.size)
        if firsts is None:
            order, firsts = cluster_boxes(grid, lows, highs, FILL)
        self._blocks = _make_empty(grid, firsts.size - 1, int(numbers.max(initial=0)) + 1)
        fill_blocks(
            *grid, self._blocks, np.ascontiguousarray(lows), np.ascontiguousarray(highs), numbers, order, firsts
        )

    @property
    def count(self) -> int:
        """How many boxes there are."""
        return int(np.count_nonzero(self._blocks.positions >= 0))

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(array.nbytes for array in (*self.grid, *self._blocks))

    def __contains__(self, number: int) -> bool:
        """Whether a box is here."""
        return number < self._blocks.positions.size and self._blocks.positions[number] >= 0

    @property
    def numbers(self) -> Int64s:
        """The numbers of all boxes."""
        return np.flatnonzero(self._blocks.positions >= 0)

    def boxes(self, numbers: Int64s) -> tuple[Int64s, Int64s]:
        """The lows and highs of some boxes, axis by box."""
        blocks, slots = np.divmod(self._blocks.positions[numbers], BLOCK)
        return self._blocks.lows[blocks, slots].T, self._blocks.highs[blocks, slots].T

    def by_block(self) -> tuple[Int64s, Int64s]:
        """The numbers of all boxes, block by block, and where each block begins; the end of the last behind them."""
        held = self._blocks.labels[: int(self._blocks.used[0])]
        firsts = np.concatenate([[0], np.cumsum(np.count_nonzero(held >= 0, axis=1))])
        return held[held >= 0].astype(np.int64), firsts

    def add(self, number: int, low: Int64s, high: Int64s) -> None:
        """Add a box."""
        if number >= self._blocks.positions.size:
            more = np.full(number + 1 + self._blocks.positions.size // 2, -1, np.int64)
            more[: self._blocks.positions.size] = self._blocks.positions
            self._blocks = self._blocks._replace(positions=more)
        if self._blocks.used[0] == self._blocks.labels.shape[0]:
            self._blocks = _grow(self._blocks)
        add_box(*self.grid, self._blocks, number, np.asarray(low, np.int64), np.asarray(high, np.int64))

    def remove(self, number: int) -> None:
        """Remove a box."""
        remove_box(self.grid.cells, self._blocks, number)

    def match(self, points: Int64s) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in: rows in order, and the boxes' numbers."""
        if not self._blocks.used[0]:
            return np.empty(0, np.int32), np.empty(0, np.int32)
        points = np.ascontiguousarray(points, np.int64)
        cells = cells_of(self.grid, points)
        row, filled, rows = 0, 0, points.shape[1]
        pair_rows, found = np.empty(0, np.int32), np.empty(0, np.int32)
        while row < rows:
            size = 2 * found.size + 64 * rows + BLOCK * int(self._blocks.used[0])
            pair_rows, found = grow_pairs(pair_rows, found, filled, size)
            row, filled = _match(self._blocks, points, cells, row, pair_rows, found, filled)
        return pair_rows[:filled].copy(), found[:filled].copy()

    def marks(self, points: Int64s) -> tuple[UInt64s, Int32s]:
        """One bitmap per point, a word per block, and the numbers of the boxes that bits stand for, or -1."""
        rows, numbers = self.match(points)
        used = int(self._blocks.used[0])
        marks = np.zeros((points.shape[1], used), np.uint64)
        _set_bits(marks, rows, self._blocks.positions[numbers])
        return marks, self._blocks.labels[:used].ravel()


def _make_empty(grid: Grid, used: int, numbers: int) -> BlockArrays:
    """Blocks without boxes, ``used`` of them in use."""
    axes, cells = grid.starts.shape
    blocks = used + used // 4 + _FEWEST_BLOCKS
    return BlockArrays(
        lows=np.full((blocks, BLOCK, axes), GREATEST, np.int64),
        highs=np.full((blocks, BLOCK, axes), LEAST, np.int64),
        firsts=np.full((blocks, axes, BLOCK), BEYOND, np.uint16),
        lasts=np.zeros((blocks, axes, BLOCK), np.uint16),
        labels=np.full((blocks, BLOCK), -1, np.int32),
        extents=np.full((blocks, axes, 2), [cells, -1], np.int32),
        bounded=np.zeros(blocks, np.uint64),
        bits=np.zeros((axes, cells, (blocks + 63) // 64), np.uint64),
        positions=np.full(numbers, -1, np.int64),
        used=np.array([used]),
    )


def _grow(blocks: BlockArrays) -> BlockArrays:
    """The same blocks, with room for half as many again."""
    size, words = blocks.labels.shape[0], blocks.bits.shape[2]
    more = (size // 2 + 63) // 64 * 64
    wider = np.zeros((*blocks.bits.shape[:2], (size + more + 63) // 64), np.uint64)
    wider[:, :, :words] = blocks.bits
    axes = blocks.lows.shape[2]
    return blocks._replace(
        lows=np.concatenate([blocks.lows, np.full((more, BLOCK, axes), GREATEST)]),
        highs=np.concatenate([blocks.highs, np.full((more, BLOCK, axes), LEAST)]),
        firsts=np.concatenate([blocks.firsts, np.full((more, axes, BLOCK), BEYOND, np.uint16)]),
        lasts=np.concatenate([blocks.lasts, np.zeros((more, axes, BLOCK), np.uint16)]),
        labels=np.concatenate([blocks.labels, np.full((more, BLOCK), -1, np.int32)]),
        extents=np.concatenate([blocks.extents, np.full((more, axes, 2), [blocks.bits.shape[1], -1], np.int32)]),
        bounded=np.concatenate([blocks.bounded, np.zeros(more, np.uint64)]),
        bits=wider,
    )


@kernel
def _test(blocks, block, cells):
    """Which boxes of a block a point's cells are in, and which surely hold the point.

    Asked are the axes on which any of them has an end.
    """
    likely, sure, axis, left = FULL, FULL, 0, blocks.bounded[block]
    while left != 0 and likely != 0 and axis < cells.size:
        axis = max(axis, lowest_bit(left))
        likely &= within(blocks.firsts[block, axis], blocks.lasts[block, axis], cells[axis])
        sure &= strictly_within(blocks.firsts[block, axis], blocks.lasts[block, axis], cells[axis])
        axis += 1
        left &= left - np.uint64(1) if axis < 64 else FULL
    return likely, sure & likely


@kernel
def _list(boxes, block, positions, count):
    """Write the positions of some boxes of a block, as bits, behind others; how many there are then.

    The first is written without asking whether there is one: a branch could not be predicted.
    """
    positions[count] = (block << 6) + (lowest_bit(boxes) & 63)
    count += boxes != 0
    boxes &= boxes - np.uint64(1)
    while boxes != 0:
        positions[count] = (block << 6) + lowest_bit(boxes)
        boxes &= boxes - np.uint64(1)
        count += 1
    return count


@kernel
def _list_candidates(blocks, found, cells, sure, doubtful):
    """List the positions of boxes in blocks that hold a point by its cells, and of those that may; how many of each."""
    are_sure, are_doubtful = 0, 0
    for word in range(found.size):
        left = found[word]
        while left != 0:
            block = (word << 6) + lowest_bit(left)
            left &= left - np.uint64(1)
            likely, inside = _test(blocks, block, cells)
            are_sure = _list(inside, block, sure, are_sure)
            are_doubtful = _list(likely & ~inside, block, doubtful, are_doubtful)
    return are_sure, are_doubtful


@kernel
def _keep(lows, highs, point, positions, count):
    """Keep the positions of boxes that a point is in; how many. Without branches, so that steps overlap."""
    kept = 0
    for candidate in range(count):
        position, outside = positions[candidate], 0
        low, high = lows[position >> 6, position & 63], highs[position >> 6, position & 63]
        for axis in range(point.size):
            outside += (low[axis] > point[axis]) | (high[axis] < point[axis])
        positions[kept] = position
        kept += outside == 0
    return kept


@kernel
def _match(blocks, points, cells, row, rows, numbers, filled):
    """Write pairs from a row on, as long as there is room for all boxes; the row and the pairs reached."""
    found = np.empty(blocks.bits.shape[2], np.uint64)
    most = BLOCK * blocks.used[0] + 1
    sure, doubtful = np.empty(most, np.int32), np.empty(most, np.int32)
    point, its_cells = np.empty(points.shape[0], np.int64), np.empty(points.shape[0], np.uint16)
    labels = blocks.labels.ravel()
    while row < points.shape[1] and filled + BLOCK * blocks.used[0] <= numbers.size:
        meet(blocks.bits, cells, row, found)
        for axis in range(point.size):
            point[axis], its_cells[axis] = points[axis, row], cells[axis, row]
        are_sure, are_doubtful = _list_candidates(blocks, found, its_cells, sure, doubtful)
        for index in range(are_sure):
            rows[filled], numbers[filled] = row, labels[sure[index]]
            filled += 1
        for index in range(_keep(blocks.lows, blocks.highs, point, doubtful, are_doubtful)):
            rows[filled], numbers[filled] = row, labels[doubtful[index]]
            filled += 1
        row += 1
    return row, filled


@kernel
def _set_bits(marks, rows, positions):
    for pair in range(rows.size):
        position = positions[pair]
        marks[rows[pair], position // BLOCK] |= np.uint64(1) << np.uint64(position % BLOCK)
