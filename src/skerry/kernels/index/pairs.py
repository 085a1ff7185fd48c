"""Room for pairs of a row and a number, written by kernels that stop when it is used up."""

import numpy as np
import numpy.typing as npt

__all__ = ["Int32s", "roomier"]

Int32s = npt.NDArray[np.int32]


def roomier(rows: Int32s, numbers: Int32s, filled: int, size: int) -> tuple[Int32s, Int32s]:
    """The first ``filled`` pairs, and room for ``size`` in all.

    >>> rows, numbers = roomier(np.array([4], np.int32), np.array([7], np.int32), 1, 10)
    >>> rows.size, numbers[:1].tolist()
    (10, [7])
    """
    found = np.empty(size, np.int32), np.empty(size, np.int32)
    for after, before in zip(found, (rows, numbers), strict=True):
        after[:filled] = before[:filled]
    return found
