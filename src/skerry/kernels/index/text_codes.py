"""Texts as numbers in the same order, as far as seven bytes go, and compared in full beyond."""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int64s, UInt8s

__all__ = ["PREFIX", "Bytes", "are_within", "encode_prefixes"]


PREFIX = 7
"""How many bytes of a text its code holds."""


class Bytes(NamedTuple):
    """Texts one after the other; text i is ``data[offsets[i]:offsets[i + 1]]``."""

    offsets: Int64s
    data: UInt8s


def encode_prefixes(texts: Bytes) -> Int64s:
    """Codes that never fall where texts rise: seven bytes, then the length, as far as eight.

    So texts of up to seven bytes have codes of their own, and longer ones share theirs.

    >>> encode_prefixes(Bytes(np.array([0, 1, 3]), np.frombuffer(b"aab", np.uint8))).tolist()
    [436849163854938113, 438573198087290882]
    """
    return _encode_prefixes(np.ascontiguousarray(texts.offsets, np.int64), texts.data)


def are_within(texts: Bytes, rows: Int64s, ends: Bytes, indexes: Int64s) -> Bools:
    """For each pair, whether the text of the row is not below ``ends[index]`` and is below ``ends[index + 1]``.

    >>> texts = Bytes(np.array([0, 1]), np.frombuffer(b"b", np.uint8))
    >>> ends = Bytes(np.array([0, 1, 3]), np.frombuffer(b"bba", np.uint8))
    >>> are_within(texts, np.array([0]), ends, np.array([0])).tolist()
    [True]
    """
    if rows.size != indexes.size:
        raise KernelError("rows and places differ in length:", rows.size, indexes.size)
    return _are_within(*_to_arrays(texts), rows.astype(np.int64), *_to_arrays(ends), indexes.astype(np.int64))


def _to_arrays(texts: Bytes) -> Bytes:
    return Bytes(np.ascontiguousarray(texts.offsets, np.int64), np.ascontiguousarray(texts.data, np.uint8))


@kernel
def _encode_prefixes(offsets, data):
    codes = np.empty(offsets.size - 1, np.int64)
    for row in range(codes.size):
        first, size = offsets[row], offsets[row + 1] - offsets[row]
        code = np.int64(0)
        for index in range(PREFIX):
            code = (code << 8) | (np.int64(data[first + index]) if index < size else 0)
        codes[row] = (code << 4) | min(size, PREFIX + 1)
    return codes


@kernel
def _is_below(one, first, size, other, second, length):
    """Whether bytes come before others: at the first that differ, or by ending first."""
    index = 0
    while index < size and index < length and one[first + index] == other[second + index]:
        index += 1
    if index < size and index < length:
        return one[first + index] < other[second + index]
    return size < length


@kernel
def _are_within(offsets, data, rows, bounds, ends, indexes):
    found = np.empty(rows.size, np.bool_)
    for pair in range(rows.size):
        first, size = offsets[rows[pair]], offsets[rows[pair] + 1] - offsets[rows[pair]]
        low, high = bounds[indexes[pair]], bounds[indexes[pair] + 1]
        end = bounds[indexes[pair] + 2]
        found[pair] = not _is_below(data, first, size, ends, low, high - low) and _is_below(
            data, first, size, ends, high, end - high
        )
    return found
