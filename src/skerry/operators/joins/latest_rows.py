"""The latest row of each key, found by code."""

import numpy as np

from skerry.model.arrays import Bools, Int64s

__all__ = ["LatestRows"]


class LatestRows:
    """The numbers of the latest rows, in the order of their keys' codes. Keys that differ may share a code.

    Looking rows up costs a binary search each; to replace some copies the two arrays.

    >>> latest = LatestRows()
    >>> latest.replace(np.array([], np.int64), np.array([7, 5]), np.array([0, 1]))
    >>> latest.find(np.array([5, 6])).tolist()
    [1]
    """

    def __init__(self) -> None:
        self._codes, self.numbers = np.empty(0, np.int64), np.empty(0, np.int64)

    def find(self, codes: Int64s) -> Int64s:
        """The numbers of all rows that have one of these codes, each once."""
        wanted = np.unique(codes)
        first, last = (np.searchsorted(self._codes, wanted, side=side) for side in ("left", "right"))
        counts = last - first
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.numbers[np.repeat(first, counts) + within]

    def replace(self, gone: Int64s, codes: Int64s, numbers: Int64s) -> None:
        """Leave out the rows of some numbers, and take others in."""
        if gone.size:
            self.keep(~np.isin(self.numbers, gone))
        order = np.argsort(codes, kind="stable")
        positions = np.searchsorted(self._codes, codes[order])
        self._codes = np.insert(self._codes, positions, codes[order])
        self.numbers = np.insert(self.numbers, positions, numbers[order])

    def keep(self, chosen: Bools) -> None:
        """Only those."""
        self._codes, self.numbers = self._codes[chosen], self.numbers[chosen]
