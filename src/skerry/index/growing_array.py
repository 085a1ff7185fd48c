"""Arrays that grow at their end."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["GrowingArray"]

_ROOM = 64


class GrowingArray:
    """An array with room behind it.

    >>> numbers = GrowingArray(np.int64)
    >>> numbers.extend([4, 5])
    >>> numbers.array.tolist()
    [4, 5]
    """

    def __init__(self, kind: npt.DTypeLike, values: Sequence[int] | npt.NDArray[Any] = ()) -> None:
        self._held = np.array(values, kind)
        self._size = len(self._held)

    def __len__(self) -> int:
        """How many values there are."""
        return self._size

    @property
    def array(self) -> npt.NDArray[Any]:
        """The values; to be taken again once there are more."""
        return self._held[: self._size]

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self._held.nbytes

    def extend(self, values: Sequence[int] | npt.NDArray[Any]) -> None:
        """Put values behind the others."""
        size = self._size + len(values)
        if size > len(self._held):
            longer = np.zeros(size + size // 2 + _ROOM, self._held.dtype)
            longer[: self._size] = self.array
            self._held = longer
        self._held[self._size : size] = values
        self._size = size
