"""Boxes behind a prefilter: most points that are in no box are dropped before the search."""

from typing import Generic, TypeVar

from skerry.kernels.index.box_bitmaps import BoxBitmaps
from skerry.kernels.index.box_blocks import BoxBlocks
from skerry.kernels.index.prefilter import build_prefilter
from skerry.model.arrays import Int32s, Int64s

__all__ = ["PrefilteredBoxes"]

Held = TypeVar("Held", BoxBitmaps, BoxBlocks)

_FEW_CHANGES = 16


class PrefilteredBoxes(Generic[Held]):
    """Boxes, and a prefilter over them if they are selective enough for one to pay.

    The prefilter is built again before a match once half as many boxes have come or gone as there were.

    >>> import numpy as np
    >>> from skerry.kernels.index.grid import build_grid
    >>> lows, highs = np.array([[0, 500]]), np.array([[7, 509]])
    >>> boxes = PrefilteredBoxes(BoxBitmaps(build_grid(lows, highs, 4), lows, highs, np.array([10, 11])), lows, highs)
    >>> rows, numbers = boxes.match(np.array([[100, 3, 200, 506]]))
    >>> rows.tolist(), numbers.tolist()
    ([1, 3], [10, 11])
    """

    def __init__(self, held: Held, lows: Int64s, highs: Int64s) -> None:
        self.held: Held = held
        self._build(lows, highs)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self.held.nbytes + (self._prefilter.bits.nbytes if self._prefilter else 0)

    def add(self, number: int, low: Int64s, high: Int64s) -> None:
        """Add a box."""
        self.held.add(number, low, high)
        self._changes += 1
        if self._prefilter:
            self._prefilter.add(low[:, None], high[:, None])

    def remove(self, number: int) -> None:
        """Remove a box."""
        self.held.remove(number)
        self._changes += 1

    def match(self, points: Int64s) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in: rows in order, and the boxes' numbers."""
        kept = self.select(points)
        if kept is None:
            return self.held.match(points)
        rows, numbers = self.held.match(points[:, kept])
        return kept[rows], numbers

    def select(self, points: Int64s) -> Int32s | None:
        """The rows of points that may be in a box; None if there is no prefilter, so that all may."""
        if self._changes > self._box_count // 2 + _FEW_CHANGES:
            self._build(*self.held.boxes(self.held.numbers))
        return self._prefilter.select(points) if self._prefilter else None

    def _build(self, lows: Int64s, highs: Int64s) -> None:
        """Build the prefilter over these boxes."""
        self._prefilter, self._box_count, self._changes = build_prefilter(lows, highs), lows.shape[1], 0
