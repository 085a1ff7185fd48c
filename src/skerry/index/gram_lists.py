"""Boxes that ask for texts with something in them: found by four bytes of it, which few others ask for."""

import numpy as np
import pyarrow as pa

from skerry.index.column_codes import bytes_of
from skerry.index.point_lists import PointLists
from skerry.kernels.index.text_codes import Bytes
from skerry.model.arrays import Int32s, Int64s

__all__ = ["GRAM", "GramLists", "list_grams"]

GRAM = 4


def list_grams(text: bytes) -> list[int]:
    """All runs of four bytes, as numbers.

    >>> [gram.to_bytes(4, "big") for gram in list_grams(b"queue")]
    [b'queu', b'ueue']
    """
    return [int.from_bytes(text[first : first + GRAM], "big") for first in range(len(text) - GRAM + 1)]


class GramLists(PointLists):
    """Boxes by a run of bytes that a text must have. Whether the text is what they want is another's to decide.

    >>> lists = GramLists()
    >>> lists.add(7, list_grams(b"ueue"), {})
    >>> rows, numbers = lists.match(np.zeros((1, 2), np.int64), pa.array(["a queue of queues", "a que"]))
    >>> rows.tolist(), numbers.tolist()
    ([0], [7])
    """

    def __init__(self, *, is_text: bool = False) -> None:
        super().__init__(is_text=False)

    def match(self, points: Int64s, column: pa.Array) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it may be in, each once, in order of points."""
        self.settle()
        rows, grams = _find_grams(bytes_of(column))
        values = self.find_keys(grams)
        rows, values = rows[values >= 0], values[values >= 0]
        found, numbers = self.match_values(points[:, rows], values)
        pairs = np.unique(rows[found] << 32 | numbers)
        return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def _find_grams(texts: Bytes) -> tuple[Int64s, Int64s]:
    """The runs of four bytes of all texts, and the rows that these have."""
    counts = np.maximum(np.diff(texts.offsets) - GRAM + 1, 0)
    rows = np.repeat(np.arange(counts.size), counts)
    firsts = np.repeat(texts.offsets[:-1] - (np.cumsum(counts) - counts), counts) + np.arange(rows.size)
    grams = np.zeros(rows.size, np.int64)
    for beside in range(GRAM):
        grams = grams << 8 | texts.data[firsts + beside]
    return rows, grams
