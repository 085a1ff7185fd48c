"""The index of boxes that ships: bitmaps for boxes that many points are in, blocks for those that few are in.

Each has a grid whose cells follow the ends of its boxes. Boxes are clustered, and a cluster that
reaches over more than ``WIDE`` of all cells is dissolved into bitmaps: testing it as a block at every point in
its reach would cost more than its bits at every point. A box that comes later goes where it would have gone
alone. When there are twice as many boxes as the grids were made for, they are made again, before the next match.
Each has a prefilter, if its boxes are so selective that most points are in none.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from skerry.index.prefiltered_boxes import PrefilteredBoxes
from skerry.kernels.index.box_bitmaps import BoxBitmaps
from skerry.kernels.index.box_blocks import FILL, BoxBlocks
from skerry.kernels.index.clusters import cluster_boxes, measure_coverage
from skerry.kernels.index.grid import GREATEST, LEAST, Grid, build_grid, cells_of
from skerry.kernels.index.match_pairs import merge_pairs
from skerry.model.arrays import Float64s, Int32s, Int64s, UInt64s

__all__ = ["WIDE", "BoxIndex", "Marks", "Pairs"]

Sides = Mapping[int, tuple[int, int]]
"""By axis, the least and the greatest code of a box; an axis that is not named is open."""

AlikeSides = Mapping[int, tuple[Int64s, Int64s]]
"""The same of many boxes, in columns."""

WIDE = 0.03
_FEW = 1024
"""So many boxes, or fewer, are all kept in bitmaps."""
_FEWEST_CELLS, _MOST_CELLS = 16, 512
_BOXES_A_CELL, _BITS_A_CELL = 128, 64
_CACHE = 2**24
"""So many bytes of bitmaps stay in the processor's cache."""


class Pairs(NamedTuple):
    """Points and the boxes they are in, in order of points."""

    rows: Int32s
    numbers: Int32s


class Marks(NamedTuple):
    """One bitmap per point: bit i of it stands for the box ``numbers[i]``, or for none if that is -1."""

    bits: UInt64s
    numbers: Int32s


class BoxIndex:
    """Boxes under numbers of the caller's choice, which must not be large, over axes from 0.

    >>> index = BoxIndex(axes=2)
    >>> index.add(7, {0: (10, 20)})
    >>> index.add(8, {0: (15, 30), 1: (0, 5)})
    >>> pairs = index.match(np.array([[12, 16, 16], [9, 9, 1]]))
    >>> pairs.rows.tolist(), pairs.numbers.tolist()
    ([0, 1, 2, 2], [7, 7, 7, 8])
    """

    PARTS = frozenset(
        ["firsts"]
        + [f"{part}_{what}" for part in ("wide", "narrow") for what in ("starts", "counts", "lows", "highs", "numbers")]
    )
    """What a saved index consists of."""

    def __init__(self, axes: int) -> None:
        self._axes = axes
        self._waiting: dict[int, Sides] = {}
        self._waiting_alike: list[tuple[Int64s, AlikeSides]] = []
        self._arrange(np.empty((axes, 0), np.int64), np.empty((axes, 0), np.int64), np.empty(0, np.int64))

    @classmethod
    def of(cls, lows: Int64s, highs: Int64s, numbers: Int64s | None = None) -> "BoxIndex":
        """Many boxes at once, axis by box; numbered from 0 if no numbers are given."""
        index = cls(lows.shape[0])
        index._arrange(lows, highs, np.arange(lows.shape[1]) if numbers is None else numbers)
        return index

    def __len__(self) -> int:
        """How many boxes there are."""
        return self._count + len(self._waiting) + sum(numbers.size for numbers, _ in self._waiting_alike)

    def __contains__(self, number: int) -> bool:
        """Whether there is a box of this number."""
        self._take_alike()
        return number in self._waiting or number in self._wide.held or number in self._narrow.held

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._wide.nbytes + self._narrow.nbytes

    def add(self, number: int, sides: Sides) -> None:
        """Add a box: at once, or before the next match if there is to be a new grid."""
        if self._count >= 2 * self._arranged + _FEW or any(axis >= self._axes for axis in sides):
            self._waiting[number] = sides
            return
        low, high = _to_arrays([sides], self._axes)
        self._count += 1
        if _measure_reach(self._narrow.held.grid, low, high) > WIDE:
            self._wide.add(number, low[:, 0], high[:, 0])
        else:
            self._narrow.add(number, low[:, 0], high[:, 0])

    def add_alike(self, numbers: Int64s, sides: AlikeSides) -> None:
        """Add boxes with sides on the same axes: before the next match, if they are many for the grid that there is."""
        if 4 * numbers.size > self._arranged or len(self) + numbers.size >= 2 * self._arranged + _FEW:
            self._waiting_alike.append((numbers, sides))
            return
        for index, number in enumerate(numbers.tolist()):
            self.add(number, {axis: (int(lows[index]), int(highs[index])) for axis, (lows, highs) in sides.items()})

    def remove(self, number: int) -> None:
        """Remove a box."""
        self._take_alike()
        if self._waiting.pop(number, None) is None:
            (self._wide if number in self._wide.held else self._narrow).remove(number)
            self._count -= 1

    def match(self, points: Int64s) -> Pairs:
        """The pairs of a point and a box that it is in. Points are axis by row; more axes may come behind."""
        points = self._select_axes(points)
        narrow, kept = self._narrow.match(points), self._wide.select(points)
        if kept is None:
            return Pairs(*self._wide.held.match(points, narrow))
        rows, numbers = self._wide.held.match(points[:, kept])
        return Pairs(*merge_pairs((kept[rows], numbers), narrow))

    def marks(self, points: Int64s) -> Marks:
        """One bitmap per point."""
        points = self._select_axes(points)
        wide, wide_labels = self._wide.held.marks(points), self._wide.held.labels
        narrow, labels = self._narrow.held.marks(points)
        if not narrow.shape[1]:
            return Marks(wide, wide_labels)
        return Marks(np.concatenate([wide, narrow], axis=1), np.concatenate([wide_labels, labels]))

    def settle(self) -> None:
        """Build everything again if any box waits for that, or if few are left of those that it was built for."""
        self._take_alike()
        if not self._waiting and 4 * self._count + _FEW >= self._arranged:
            return
        self._axes = max(self._axes, 1 + max((axis for sides in self._waiting.values() for axis in sides), default=0))
        lows, highs, numbers = self.boxes()
        more = _to_arrays(list(self._waiting.values()), self._axes)
        waiting = np.fromiter(self._waiting, np.int64)
        self._waiting = {}
        self._arrange(
            np.concatenate([lows, more[0]], axis=1),
            np.concatenate([highs, more[1]], axis=1),
            np.concatenate([numbers, waiting]),
        )

    def _take_alike(self) -> None:
        """Build everything again with the boxes that came together."""
        alike, self._waiting_alike = self._waiting_alike, []
        if not alike:
            return
        self._axes = max(self._axes, *(1 + max(sides, default=0) for _, sides in alike))
        lows, highs, numbers = ([part] for part in self.boxes())
        for some, sides in alike:
            numbers.append(some)
            for ends, part, open_end in ((lows, 0, LEAST), (highs, 1, GREATEST)):
                ends.append(np.full((self._axes, some.size), open_end))
                for axis, cuts in sides.items():
                    ends[-1][axis] = cuts[part]
        self._arrange(np.concatenate(lows, axis=1), np.concatenate(highs, axis=1), np.concatenate(numbers))

    def boxes(self) -> tuple[Int64s, Int64s, Int64s]:
        """The lows, highs and numbers of all boxes that do not wait."""
        wide, narrow = self._wide.held.numbers, self._narrow.held.numbers
        lows, highs = (
            np.concatenate(parts, axis=1)
            for parts in zip(self._wide.held.boxes(wide), self._narrow.held.boxes(narrow), strict=True)
        )
        room = ((0, self._axes - lows.shape[0]), (0, 0))
        lows, highs = np.pad(lows, room, constant_values=LEAST), np.pad(highs, room, constant_values=GREATEST)
        return lows, highs, np.concatenate([wide, narrow])

    def save(self) -> dict[str, Int64s]:
        """All there is, as arrays that need no arranging when they are restored."""
        self.settle()
        wide, narrow = self._wide.held, self._narrow.held
        by_block, firsts = narrow.by_block()
        parts = {"firsts": firsts}
        for name, grid, numbers, (lows, highs) in (
            ("wide", wide.grid, wide.numbers, wide.boxes(wide.numbers)),
            ("narrow", narrow.grid, by_block, narrow.boxes(by_block)),
        ):
            parts |= {f"{name}_starts": grid.starts, f"{name}_counts": grid.counts}
            parts |= {f"{name}_lows": lows, f"{name}_highs": highs, f"{name}_numbers": numbers}
        return parts

    @classmethod
    def restore(cls, parts: Mapping[str, Int64s]) -> "BoxIndex":
        """Rebuild the index that ``save`` gave."""
        index = cls.__new__(cls)
        index._axes, index._waiting, index._waiting_alike = parts["wide_counts"].size, {}, []
        wide, narrow = (_restore_part(parts, name, index._axes) for name in ("wide", "narrow"))
        index._wide = PrefilteredBoxes(BoxBitmaps(*wide), *wide[1:3])
        index._narrow = PrefilteredBoxes(BoxBlocks(*narrow, np.array(parts["firsts"])), *narrow[1:3])
        index._count = index._arranged = wide[3].size + narrow[3].size
        return index

    def _select_axes(self, points: Int64s) -> Int64s:
        """Points on the axes that any box has needed so far."""
        self.settle()
        return np.ascontiguousarray(points[: self._axes], np.int64)

    def _arrange(self, lows: Int64s, highs: Int64s, numbers: Int64s) -> None:
        """Make the grid, and sort boxes into bits and blocks."""
        self._count = self._arranged = numbers.size
        grid = build_grid(lows, highs, _choose_cell_count(numbers.size / _BOXES_A_CELL))
        narrow = (
            np.flatnonzero(_measure_reach(grid, lows, highs) <= WIDE) if numbers.size > _FEW else np.empty(0, np.int64)
        )
        order, firsts = cluster_boxes(grid, lows[:, narrow], highs[:, narrow], FILL)
        near = measure_coverage(grid, lows[:, narrow], highs[:, narrow], order, firsts) <= WIDE
        sizes = np.diff(firsts)
        chosen = narrow[order[np.repeat(near, sizes)]]
        firsts = np.concatenate([[0], np.cumsum(sizes[near])])
        others = np.ones(numbers.size, np.bool_)
        others[chosen] = False
        lows_wide, highs_wide = lows[:, others], highs[:, others]
        few = min(numbers.size / _BITS_A_CELL, 8 * _CACHE / max(lows_wide.size, 1))
        wide = BoxBitmaps(
            build_grid(lows_wide, highs_wide, _choose_cell_count(few)), lows_wide, highs_wide, numbers[others]
        )
        self._wide = PrefilteredBoxes(wide, lows_wide, highs_wide)
        lows, highs = lows[:, chosen], highs[:, chosen]
        self._narrow = PrefilteredBoxes(BoxBlocks(grid, lows, highs, numbers[chosen], firsts), lows, highs)


def _choose_cell_count(wanted: float) -> int:
    """The greatest power of two not above the wanted number of cells, within bounds."""
    return int(2 ** np.floor(np.log2(min(max(wanted, _FEWEST_CELLS), _MOST_CELLS))))


def _measure_reach(grid: Grid, lows: Int64s, highs: Int64s) -> Float64s:
    """The fraction of cells that each box reaches over, on all axes together."""
    reach = cells_of(grid, highs) - cells_of(grid, lows) + 1
    found: Float64s = np.prod(reach / grid.counts[:, None], axis=0)
    return found


def _restore_part(parts: Mapping[str, Int64s], name: str, axes: int) -> tuple[Grid, Int64s, Int64s, Int64s]:
    """Grid, lows, highs and numbers, as arrays of their own."""
    starts, lows, highs = (np.array(parts[f"{name}_{what}"]).reshape(axes, -1) for what in ("starts", "lows", "highs"))
    return Grid(starts, np.array(parts[f"{name}_counts"])), lows, highs, np.array(parts[f"{name}_numbers"])


def _to_arrays(boxes: list[Sides], axes: int) -> tuple[Int64s, Int64s]:
    """Lows and highs of boxes, axis by box."""
    lows, highs = np.full((axes, len(boxes)), LEAST), np.full((axes, len(boxes)), GREATEST)
    for index, sides in enumerate(boxes):
        for axis, (low, high) in sides.items():
            lows[axis, index], highs[axis, index] = low, high
    return lows, highs
