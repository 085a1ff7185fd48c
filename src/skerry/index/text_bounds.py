"""Ends of texts that codes do not tell apart, kept in full and compared byte by byte."""

from array import array
from collections.abc import Iterable

import numpy as np

from skerry.kernels.index.text_codes import Bytes, within
from skerry.model.arrays import Bools, Int64s

__all__ = ["Ends"]


class Ends:
    """The low and the high cut of texts, by place. What is forgotten leaves a gap until the index is restored.

    >>> ends = Ends()
    >>> place = ends.add(b"sensor_1", b"sensor_2")
    >>> texts = Bytes(np.array([0, 9, 17]), np.frombuffer(b"sensor_12sensor_2", np.uint8))
    >>> ends.hold(texts, np.array([0, 1]), np.array([place, place])).tolist()
    [True, False]
    """

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self._offsets, self._data = array("q", [0]), bytearray()
        for low, high in pairs:
            self.add(low, high)

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return len(self._data) + 8 * len(self._offsets)

    def add(self, low: bytes, high: bytes) -> int:
        """Keep two cuts; their place."""
        place = len(self._offsets) - 1
        for cut in (low, high):
            self._data += cut
            self._offsets.append(len(self._data))
        return place

    def __getitem__(self, place: int) -> tuple[bytes, bytes]:
        """The cuts at a place."""
        first, middle, last = self._offsets[place : place + 3]
        return bytes(self._data[first:middle]), bytes(self._data[middle:last])

    def hold(self, texts: Bytes, rows: Int64s, places: Int64s) -> Bools:
        """For each pair, whether the text of a row lies between the cuts at a place."""
        ends = Bytes(np.array(self._offsets, np.int64), np.frombuffer(self._data or b"", np.uint8))
        return within(texts, rows, ends, places)
