"""Bounds of text columns that codes cannot distinguish, kept in full and compared byte by byte."""

from array import array
from collections.abc import Iterable

import numpy as np

from skerry.kernels.index.text_codes import Bytes, are_within
from skerry.model.arrays import Bools, Int64s

__all__ = ["TextBounds"]

_FEW_BYTES = 2**16


class TextBounds:
    """Pairs of a low and a high cut, by index. A removed pair leaves a gap; who has many makes new bounds of the rest.

    >>> bounds = TextBounds()
    >>> index = bounds.add(b"sensor_1", b"sensor_2")
    >>> texts = Bytes(np.array([0, 9, 17]), np.frombuffer(b"sensor_12sensor_2", np.uint8))
    >>> bounds.contain(texts, np.array([0, 1]), np.array([index, index])).tolist()
    [True, False]
    """

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._offsets, self._data = array("q", [0]), bytearray()
        self._removed = 0
        for low, high in pairs:
            self.add(low, high)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return len(self._data) + 8 * len(self._offsets)

    def add(self, low: bytes, high: bytes) -> int:
        """Keep two cuts; their index."""
        index = len(self._offsets) - 1
        for cut in (low, high):
            self._data += cut
            self._offsets.append(len(self._data))
        return index

    def remove(self, index: int) -> None:
        """Note that the cuts at an index are not needed any more."""
        self._removed += self._offsets[index + 2] - self._offsets[index] + 16

    @property
    def is_sparse(self) -> bool:
        """Whether most of them have been removed."""
        return self._removed > self.nbytes // 2 + _FEW_BYTES

    def __getitem__(self, index: int) -> tuple[bytes, bytes]:
        """The two cuts at an index."""
        first, middle, last = self._offsets[index : index + 3]
        return bytes(self._data[first:middle]), bytes(self._data[middle:last])

    def contain(self, texts: Bytes, rows: Int64s, indexes: Int64s) -> Bools:
        """For each pair, whether the text of a row lies between the cuts at an index."""
        bounds = Bytes(np.array(self._offsets, np.int64), np.frombuffer(self._data or b"", np.uint8))
        return are_within(texts, rows, bounds, indexes)
