"""The elements of one stream that are in its sliding window: by arrival, and along Hilbert's curve.

    ordinals   ... 41 42 43 44 45 46 47      a ring: new ones at one end, old ones leave at the other
    nearby     44 41 47 45 42 46 43          by their positions on the curve, so that neighbours come together

For the order along the curve the paper has a binary search tree. Here it is a sorted array: a new element moves
those behind it, which takes microseconds for ten thousand.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import Grid, cells_of
from skerry.model.arrays import Int64s
from skerry.rivals.query_index.hilbert_curve import CURVE_AXES, curve_bits, hilbert_keys

__all__ = ["Elements", "NearbyElements"]


_ROOM = 64


class Elements:
    """Points with times that never fall, by their ordinals.

    >>> window = Elements(axes=1)
    >>> for value, time in ((7, 0), (9, 1), (8, 5)):
    ...     _ = window.insert(np.array([value]), time)
    >>> window.expire(1)
    >>> window.ordinals.tolist(), window.points_of(window.ordinals).tolist()
    ([1, 2], [[9, 8]])
    """

    def __init__(self, axes: int) -> None:
        self.points = np.empty((axes, _ROOM), np.int64)
        """Axis by slot; an ordinal's slot is its remainder."""
        self.times = np.empty(_ROOM, np.int64)
        self._first, self._next = 0, 0

    def __len__(self) -> int:
        """How many there are."""
        return self._next - self._first

    @property
    def ordinals(self) -> Int64s:
        """The ordinals of those in the window, by arrival."""
        return np.arange(self._first, self._next)

    def points_of(self, ordinals: Int64s) -> Int64s:
        """The points of elements, axis by element."""
        return self.points[:, ordinals % self.times.size]

    def times_of(self, ordinals: Int64s) -> Int64s:
        """When elements came."""
        return self.times[ordinals % self.times.size]

    def insert(self, point: Int64s, time: int) -> int:
        """Take an element in; its ordinal."""
        if len(self) == self.times.size:
            self._grow()
        slot = self._next % self.times.size
        self.points[:, slot], self.times[slot] = point, time
        self._next += 1
        return self._next - 1

    def expire(self, first: int) -> None:
        """Let elements go that came before a time."""
        while self and self.times[self._first % self.times.size] < first:
            self._remove(self._first)
            self._first += 1

    def _remove(self, ordinal: int) -> None:
        """For those that keep more of an element."""

    def _grow(self) -> None:
        """Twice as many slots, and each element where it belongs among them."""
        held, size = np.arange(self._first, self._next), 2 * self.times.size
        points, times = np.empty((self.points.shape[0], size), np.int64), np.empty(size, np.int64)
        points[:, held % size], times[held % size] = self.points_of(held), self.times_of(held)
        self.points, self.times = points, times


class NearbyElements(Elements):
    """The same, in order along the curve as well. Cells of the curve are those of a grid.

    >>> window = NearbyElements(Grid(np.array([[-(2**63), 10, 20, 30]]), np.array([4])))
    >>> for value in (35, 5, 15):
    ...     _ = window.insert(np.array([value]), 0)
    >>> window.ordinals.tolist()
    [1, 2, 0]
    """

    def __init__(self, grid: Grid) -> None:
        super().__init__(grid.counts.size)
        self._grid, self._bits = grid, curve_bits(grid.counts.size)
        self._keys, self._nearby = np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int64)

    @property
    def ordinals(self) -> Int64s:
        """The ordinals of those in the window, along the curve."""
        return self._nearby[: len(self)].copy()

    def insert(self, point: Int64s, time: int) -> int:
        """Take an element in; its ordinal."""
        before = len(self)
        ordinal = super().insert(point, time)
        if before == self._keys.size:
            self._keys, self._nearby = (np.concatenate([each, each]) for each in (self._keys, self._nearby))
        _insert(self._keys, self._nearby, before, self._find_key(ordinal), ordinal)
        return ordinal

    def _remove(self, ordinal: int) -> None:
        _remove(self._keys, self._nearby, len(self), self._find_key(ordinal))

    def _find_key(self, ordinal: int) -> int:
        cells = cells_of(self._grid, self.points_of(np.array([ordinal])))
        return int(hilbert_keys(cells[:CURVE_AXES], self._bits)[0])


@kernel
def _insert(keys, nearby, count, key, ordinal):
    """Put an element behind those before it on the curve."""
    position = np.searchsorted(keys[:count], key, side="right")
    for moved in range(count, position, -1):
        keys[moved], nearby[moved] = keys[moved - 1], nearby[moved - 1]
    keys[position], nearby[position] = key, ordinal


@kernel
def _remove(keys, nearby, count, key):
    """Take out the first element at a position on the curve: of those there, it came first."""
    for moved in range(np.searchsorted(keys[:count], key), count - 1):
        keys[moved], nearby[moved] = keys[moved + 1], nearby[moved + 1]
