"""Boxes behind a sieve: points that are in no box are spared the search for one."""

from typing import Generic, TypeVar

from skerry.kernels.index.box_bitmaps import Bitmaps
from skerry.kernels.index.box_blocks import Blocks
from skerry.kernels.index.prefilter import sieve_over
from skerry.model.arrays import Int32s, Int64s

__all__ = ["Sifted"]

Held = TypeVar("Held", Bitmaps, Blocks)

_FEW_CHANGES = 16


class Sifted(Generic[Held]):
    """Boxes, and the sieve over them, if they are so selective that one pays.

    It is made anew before a match when half as many boxes have come or gone as there were.

    >>> from skerry.kernels.index.grid import grid_over
    >>> lows, highs = np.array([[0, 500]]), np.array([[7, 509]])
    >>> sifted = Sifted(Bitmaps(grid_over(lows, highs, 4), lows, highs, np.array([10, 11])), lows, highs)
    >>> rows, numbers = sifted.match(np.array([[100, 3, 200, 506]]))
    >>> rows.tolist(), numbers.tolist()
    ([1, 3], [10, 11])
    """

    def __init__(self, held: Held, lows: Int64s, highs: Int64s) -> None:
        self.held: Held = held
        self._sift(lows, highs)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self.held.nbytes + (self._sieve.bits.nbytes if self._sieve else 0)

    def add(self, number: int, low: Int64s, high: Int64s) -> None:
        """Take a box in."""
        self.held.add(number, low, high)
        self._changes += 1
        if self._sieve:
            self._sieve.add(low[:, None], high[:, None])

    def remove(self, number: int) -> None:
        """Forget a box."""
        self.held.remove(number)
        self._changes += 1

    def match(self, points: Int64s) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in: rows in order, and the boxes' numbers."""
        kept = self.kept(points)
        if kept is None:
            return self.held.match(points)
        rows, numbers = self.held.match(points[:, kept])
        return kept[rows], numbers

    def kept(self, points: Int64s) -> Int32s | None:
        """The rows of points that may be in a box; None if any of them may."""
        if self._changes > self._sifted // 2 + _FEW_CHANGES:
            self._sift(*self.held.boxes(self.held.numbers))
        return self._sieve.sift(points) if self._sieve else None

    def _sift(self, lows: Int64s, highs: Int64s) -> None:
        """Make the sieve."""
        self._sieve, self._sifted, self._changes = sieve_over(lows, highs), lows.shape[1], 0
