"""Boxes as bits: per axis and cell a bitmap of the boxes that meet it, AND-ed over the axes for each point.

A box that ends inside a cell meets it only in part. The ends inside a cell are listed in order, and the boxes
whose end a point lies beyond are struck out, so that what remains is exact.

    cell 5 of speed   bitmap  0 1 1 0 1 ...
                      lows    (41, box 2) (43, box 4)        a point at 42 strikes out box 4
                      highs   (44, box 1)

A point costs a few instructions per 64 boxes and axis, and one per end in its cells: right for boxes that many
points are in. Adding or removing a box changes a bit in the cells it meets, and two ends per axis.
"""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.bits import lowest_bit, meet, ones
from skerry.kernels.index.ends_in_cells import (
    CellEnds,
    count_ends,
    grow_ends,
    has_room,
    insert_ends,
    list_ends,
    remove_ends,
    strike_out,
)
from skerry.kernels.index.grid import Grid, cell_of, cells_of
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s, UInt64s

__all__ = ["BoxBitmaps"]


_FEWEST_WORDS = 2
_FEW = 8
"""Testing one box costs about as much as striking out so many ends."""
_NONE = (np.empty(0, np.int32), np.empty(0, np.int32))


class BoxBitmaps:
    """Boxes over the axes of a grid, under numbers of the caller's choice.

    >>> from skerry.kernels.index.grid import build_grid
    >>> lows, highs = np.array([[0, 5]]), np.array([[7, 9]])
    >>> bitmaps = BoxBitmaps(build_grid(lows, highs, 4), lows, highs, np.array([10, 11]))
    >>> rows, numbers = bitmaps.match(np.array([[3, 6]]))
    >>> rows.tolist(), numbers.tolist()
    ([0, 1, 1], [10, 10, 11])
    """

    def __init__(self, grid: Grid, lows: Int64s, highs: Int64s, numbers: Int64s) -> None:
        axes, cells = grid.starts.shape
        if not (lows.shape == highs.shape == (axes, numbers.size)):
            raise KernelError("boxes do not fit their grid or numbers:", lows.shape, highs.shape, numbers.size, axes)
        self.grid = grid
        words = (numbers.size + numbers.size // 4) // 64 + _FEWEST_WORDS
        self.bits = np.zeros((axes, cells, words), np.uint64)
        self.bounds = np.empty((words * 64, 2 * axes), np.int64)
        self.labels = np.full(words * 64, -1, np.int32)
        self._slots = dict(zip(numbers.tolist(), range(numbers.size), strict=True))
        self._free = list(range(words * 64 - 1, numbers.size - 1, -1))
        self.bounds[: numbers.size, :axes], self.bounds[: numbers.size, axes:] = lows.T, highs.T
        self.labels[: numbers.size] = numbers
        _fill(grid.starts, grid.counts, self.bounds, numbers.size, self.bits)
        self._cell_ends = list_ends(grid, self.bounds[: numbers.size])

    @property
    def count(self) -> int:
        """How many boxes there are."""
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        arrays = (*self.grid, self.bits, self.bounds, self.labels, *self._cell_ends)
        return sum(array.nbytes for array in arrays)

    def __contains__(self, number: int) -> bool:
        """Whether a box is here."""
        return number in self._slots

    @property
    def numbers(self) -> Int64s:
        """The numbers of all boxes."""
        return np.fromiter(self._slots, np.int64, len(self._slots))

    def boxes(self, numbers: Int64s) -> tuple[Int64s, Int64s]:
        """The lows and highs of some boxes, axis by box."""
        slots = [self._slots[number] for number in numbers.tolist()]
        axes = self.grid.starts.shape[0]
        return self.bounds[slots, :axes].T, self.bounds[slots, axes:].T

    def add(self, number: int, low: Int64s, high: Int64s) -> None:
        """Add a box."""
        if not self._free:
            self._widen()
        slot = self._slots[number] = self._free.pop()
        axes = self.grid.starts.shape[0]
        self.bounds[slot, :axes], self.bounds[slot, axes:] = low, high
        self.labels[slot] = number
        while not has_room(*self.grid, self.bounds[slot], self._cell_ends):
            self._cell_ends = grow_ends(self._cell_ends)
        insert_ends(*self.grid, self.bounds[slot], slot, self._cell_ends)
        _flip_bits(*self.grid, self.bounds[slot], slot, self.bits)

    def remove(self, number: int) -> None:
        """Remove a box."""
        slot = self._slots.pop(number)
        remove_ends(*self.grid, self.bounds[slot], slot, self._cell_ends)
        _flip_bits(*self.grid, self.bounds[slot], slot, self.bits)
        self.labels[slot] = -1
        self._free.append(slot)

    def match(self, points: Int64s, others: tuple[Int32s, Int32s] = _NONE) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in: rows in order, and the boxes' numbers.

        ``others`` are such pairs found elsewhere, in order too; they are given with those found here.
        """
        if not self._slots:
            return others
        points = np.ascontiguousarray(points, np.int64)
        cells = cells_of(self.grid, points)
        row, filled, rows = 0, 0, points.shape[1]
        firsts = np.searchsorted(others[0], np.arange(rows + 1))
        pair_rows, found = np.empty(0, np.int32), np.empty(0, np.int32)
        while row < rows:
            likely = int(filled / row * 1.05 * rows) if row else 0
            size = max(likely, 2 * found.size) + 2 * self.labels.size + others[0].size
            pair_rows, found = grow_pairs(pair_rows, found, filled, size)
            until, given = rows if row else min(rows, 64), (firsts, others[1])
            row, filled = _match(self._boxes(), points, cells, given, row, until, pair_rows, found, filled)
        return pair_rows[:filled], found[:filled]

    def marks(self, points: Int64s) -> UInt64s:
        """One bitmap per point: bit s of it stands for the box ``labels[s]``."""
        points = np.ascontiguousarray(points, np.int64)
        cells = cells_of(self.grid, points)
        marks = np.empty((points.shape[1], self.bits.shape[2]), np.uint64)
        _mark(self._boxes(), points, cells, marks)
        return marks

    def _boxes(self) -> tuple[UInt64s, CellEnds, Int64s, Int32s]:
        """What kernels need to know of boxes."""
        return self.bits, self._cell_ends, self.bounds, self.labels

    def _widen(self) -> None:
        """Make room for half as many boxes again."""
        slots, words = self.labels.size, self.bits.shape[2]
        more = words // 2 + _FEWEST_WORDS
        wider = np.zeros((*self.bits.shape[:2], words + more), np.uint64)
        wider[:, :, :words] = self.bits
        self.bits = wider
        self.bounds = np.concatenate([self.bounds, np.empty((64 * more, self.bounds.shape[1]), np.int64)])
        self.labels = np.concatenate([self.labels, np.full(64 * more, -1, np.int32)])
        self._free.extend(range(slots + 64 * more - 1, slots - 1, -1))


@kernel
def _fill(starts, counts, bounds, size, bits):
    """Set the bits of the first boxes: cell by cell, what begins and what has ended since the one before."""
    axes, _, words = bits.shape
    firsts, lasts = np.empty(size, np.int64), np.empty(size, np.int64)
    for axis in range(axes):
        for slot in range(size):
            firsts[slot] = cell_of(starts[axis], counts[axis], bounds[slot, axis])
            lasts[slot] = cell_of(starts[axis], counts[axis], bounds[slot, axes + axis])
            if bounds[slot, axis] <= bounds[slot, axes + axis]:
                bit = np.uint64(1) << np.uint64(slot & 63)
                bits[axis, firsts[slot], slot >> 6] ^= bit
                if lasts[slot] + 1 < counts[axis]:
                    bits[axis, lasts[slot] + 1, slot >> 6] ^= bit
        for cell in range(1, counts[axis]):
            for word in range(words):
                bits[axis, cell, word] ^= bits[axis, cell - 1, word]


@kernel
def _flip_bits(starts, counts, bound, slot, bits):
    """Set the bits of a box, or clear them if they are set."""
    axes, bit = starts.shape[0], np.uint64(1) << np.uint64(slot & 63)
    for axis in range(axes):
        if bound[axis] <= bound[axes + axis]:
            last = cell_of(starts[axis], counts[axis], bound[axes + axis])
            for cell in range(cell_of(starts[axis], counts[axis], bound[axis]), last + 1):
                bits[axis, cell, slot >> 6] ^= bit


@kernel
def _count_bits(found):
    count = 0
    for word in range(found.size):
        count += ones(found[word])
    return count


@kernel
def _are_few(cell_ends, cells, row, found):
    """Whether to test boxes one by one costs less than to strike out by all ends in the cells of a point."""
    return _FEW * _count_bits(found) < count_ends(cell_ends, cells, row)


@kernel
def _list_inside(bounds, points, row, found, few):
    """List the boxes that are marked and that a point is in; how many. All are listed before any is looked at."""
    axes, count, kept = points.shape[0], 0, 0
    point = np.empty(axes, np.int64)
    for axis in range(axes):
        point[axis] = points[axis, row]
    for word in range(found.size):
        left = found[word]
        while left != 0:
            few[count] = (word << 6) + lowest_bit(left)
            left &= left - np.uint64(1)
            count += 1
    for index in range(count):
        slot = few[index]
        bound, outside = bounds[slot], 0
        for axis in range(axes):
            outside += (bound[axis] > point[axis]) | (bound[axes + axis] < point[axis])
        few[kept] = slot
        kept += outside == 0
    return kept


@kernel
def _match(boxes, points, cells, given, row, until, rows, numbers, filled):
    """Write pairs from a row on, as long as there is room for all boxes and a few; the row and the pairs reached."""
    bits, cell_ends, bounds, labels = boxes
    firsts, others = given
    found, few = np.empty(bits.shape[2], np.uint64), np.empty(labels.size, np.int32)
    while row < until and filled + labels.size + 4 + firsts[row + 1] - firsts[row] <= numbers.size:
        meet(bits, cells, row, found)
        after = filled
        if _are_few(cell_ends, cells, row, found):
            for index in range(_list_inside(bounds, points, row, found, few)):
                numbers[after] = labels[few[index]]
                after += 1
        else:
            strike_out(cell_ends, points, cells, row, found)
            after = _write(found, labels, numbers, filled)
        for index in range(firsts[row], firsts[row + 1]):
            numbers[after] = others[index]
            after += 1
        rows[filled:after] = row
        filled = after
        row += 1
    return row, filled


@kernel
def _write(found, labels, numbers, filled):
    """Write the labels of all bits set. Four per word are written without asking how many there are: few have more."""
    for word in range(found.size):
        left, first, index = found[word], word << 6, filled
        if left != 0:
            filled += ones(left)
            for _ in range(4):
                numbers[index] = labels[first + (lowest_bit(left) & 63)]
                left &= left - np.uint64(1)
                index += 1
            while left != 0:
                numbers[index] = labels[first + lowest_bit(left)]
                left &= left - np.uint64(1)
                index += 1
    return filled


@kernel
def _mark(boxes, points, cells, marks):
    bits, cell_ends, bounds, labels = boxes
    few = np.empty(labels.size, np.int32)
    for row in range(points.shape[1]):
        meet(bits, cells, row, marks[row])
        if _are_few(cell_ends, cells, row, marks[row]):
            count = _list_inside(bounds, points, row, marks[row], few)
            marks[row] = 0
            for index in range(count):
                marks[row, few[index] >> 6] |= np.uint64(1) << np.uint64(few[index] & 63)
        else:
            strike_out(cell_ends, points, cells, row, marks[row])
