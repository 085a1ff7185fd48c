"""Texts as numbers in the same order, as far as seven bytes go, and compared in full beyond."""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s, UInt8s

__all__ = ["PREFIX", "Bytes", "prefix_codes", "within"]


PREFIX = 7
"""How many bytes of a text its code holds."""


class Bytes(NamedTuple):
    """Texts behind each other; text i is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: Int64s
    data: UInt8s


def prefix_codes(texts: Bytes) -> Int64s:
    """Codes that never fall where texts rise: seven bytes, then the length, as far as eight.

    So texts of up to seven bytes have codes of their own, and longer ones share theirs.

    >>> prefix_codes(Bytes(np.array([0, 1, 3]), np.frombuffer(b"aab", np.uint8))).tolist()
    [436849163854938113, 438573198087290882]
    """
    return _prefix_codes(np.ascontiguousarray(texts.offsets, np.int64), texts.data)


def within(texts: Bytes, rows: Int64s, ends: Bytes, places: Int64s) -> Bools:
    """For each pair, whether the text of the row is not below ``ends[place]`` and is below ``ends[place + 1]``.

    >>> texts = Bytes(np.array([0, 1]), np.frombuffer(b"b", np.uint8))
    >>> ends = Bytes(np.array([0, 1, 3]), np.frombuffer(b"bba", np.uint8))
    >>> within(texts, np.array([0]), ends, np.array([0])).tolist()
    [True]
    """
    if rows.size != places.size:
        raise KernelError("rows and places differ in length:", rows.size, places.size)
    return _within(*_plain(texts), rows.astype(np.int64), *_plain(ends), places.astype(np.int64))


def _plain(texts: Bytes) -> Bytes:
    return Bytes(np.ascontiguousarray(texts.offsets, np.int64), np.ascontiguousarray(texts.data, np.uint8))


@kernel
def _prefix_codes(offsets, data):
    codes = np.empty(offsets.size - 1, np.int64)
    for row in range(codes.size):
        first, size = offsets[row], offsets[row + 1] - offsets[row]
        code = np.int64(0)
        for place in range(PREFIX):
            code = (code << 8) | (np.int64(data[first + place]) if place < size else 0)
        codes[row] = (code << 4) | min(size, PREFIX + 1)
    return codes


@kernel
def _below(one, first, size, other, second, length):
    """Whether bytes come before others: at the first that differ, or by ending first."""
    place = 0
    while place < size and place < length and one[first + place] == other[second + place]:
        place += 1
    if place < size and place < length:
        return one[first + place] < other[second + place]
    return size < length


@kernel
def _within(offsets, data, rows, bounds, ends, places):
    found = np.empty(rows.size, np.bool_)
    for pair in range(rows.size):
        first, size = offsets[rows[pair]], offsets[rows[pair] + 1] - offsets[rows[pair]]
        low, high = bounds[places[pair]], bounds[places[pair] + 1]
        end = bounds[places[pair] + 2]
        found[pair] = not _below(data, first, size, ends, low, high - low) and _below(
            data, first, size, ends, high, end - high
        )
    return found
