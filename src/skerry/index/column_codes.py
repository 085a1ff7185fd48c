"""Columns as axes: codes of readings and of a box's sides, whole numbers in the order of the values.

A text column has two axes. One orders texts by their first bytes, which expresses every range of short texts
exactly. The other is a hash, which distinguishes long texts that begin alike; it serves equality alone.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types as kinds

from skerry.index.domains import LEAST
from skerry.index.region import Operand
from skerry.index.value_sets import ValueSet
from skerry.kernels.hash import hash_bytes
from skerry.kernels.index.double_codes import encode_doubles
from skerry.kernels.index.grid import GREATEST
from skerry.kernels.index.text_codes import PREFIX, Bytes, encode_prefixes
from skerry.model.arrays import Bools, Int64s

__all__ = ["Axis", "Interval", "are_exact", "bytes_of", "encode_column", "encode_side", "encode_sides", "is_exact"]

Interval = tuple[int, int]
"""The least and the greatest code."""


class Axis(NamedTuple):
    """An operand, in the order of its values or by hash."""

    operand: Operand
    hashed: bool = False


def encode_column(axis: Axis, array: pa.Array) -> Int64s:
    """The code of each value. NULL has the least code, which no value has.

    >>> encode_column(Axis("speed"), pa.array([7, None])).tolist()
    [7, -9223372036854775808]
    """
    if kinds.is_string(array.type):
        found = _encode_texts(axis, bytes_of(array))
    elif kinds.is_floating(array.type):
        found = encode_doubles(array.fill_null(0.0).to_numpy(zero_copy_only=False))
    else:
        whole = array.view(pa.int64()) if kinds.is_timestamp(array.type) else array.cast(pa.int64())
        found = np.maximum(whole.fill_null(0).to_numpy(), LEAST + 1)
    if array.null_count:
        found[array.is_null().to_numpy(zero_copy_only=False)] = LEAST
    return found


def bytes_of(array: pa.Array) -> Bytes:
    """The bytes of texts; of NULL none."""
    text = array.cast(pa.large_string())
    _, offsets, data = text.buffers()
    ends = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    return Bytes(ends, np.frombuffer(data or b"", np.uint8))


def _encode_texts(axis: Axis, texts: Bytes) -> Int64s:
    if axis.hashed:
        return (hash_bytes(*texts) >> np.uint64(1)).astype(np.int64)
    return encode_prefixes(texts)


def encode_side(name: Operand, values: ValueSet) -> dict[Axis, Interval]:
    """A box's side as intervals of codes. They contain all values of the side, and no others if it ``is_exact``.

    >>> encode_side("speed", ValueSet(((5, 8),)))
    {Axis(operand='speed', hashed=False): (5, 7)}
    """
    spans, null = values
    if not spans:
        return {Axis(name): (LEAST, LEAST)}
    ((low, high),) = spans
    if isinstance(low, bytes):
        return _encode_text_side(name, low, high, null=null)
    return {Axis(name): (LEAST if null else max(low, LEAST + 1), high - 1)}


def _encode_text_side(name: Operand, low: bytes, high: bytes, *, null: bool) -> dict[Axis, Interval]:
    first, last = _encode_prefix(low), _encode_prefix(high)
    found = {Axis(name): (LEAST if null else first, last - _is_exact_cut(high))}
    if _is_long_text(low, high):
        hashed = _encode_hash(low)
        found[Axis(name, hashed=True)] = (hashed, hashed)
    return found


def encode_sides(name: Operand, values: ValueSet, count: int) -> dict[Axis, tuple[Int64s, Int64s]]:
    """The same of so many boxes that are alike: columns of least and of greatest codes."""
    if not values.spans:
        return {Axis(name): (np.full(count, LEAST), np.full(count, LEAST))}
    ((lows, highs),) = values.spans
    texts = isinstance(lows[0], bytes)
    firsts = _encode_cuts(lows) if texts else np.maximum(lows, LEAST + 1).astype(np.int64)
    lasts = _encode_cuts(highs) - _are_exact_cuts(highs) if texts else (highs - 1).astype(np.int64)
    found = {Axis(name): (np.full(count, LEAST) if values.null else firsts, lasts)}
    long = np.array([texts and _is_long_text(*cuts) for cuts in zip(lows, highs, strict=True)], np.bool_)
    if texts and long.any():
        hashed = _encode_texts(Axis("", hashed=True), _to_rows(lows))
        found[Axis(name, hashed=True)] = (np.where(long, hashed, LEAST), np.where(long, hashed, GREATEST))
    return found


def _encode_cuts(cuts: Sequence[bytes]) -> Int64s:
    return encode_prefixes(_to_rows(cuts))


def _to_rows(texts: Sequence[bytes]) -> Bytes:
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    return Bytes(ends, np.frombuffer(b"".join(texts), np.uint8))


def _are_exact_cuts(cuts: Sequence[bytes]) -> Bools:
    """Which cuts are such that no text below has their code."""
    return np.array([_is_exact_cut(cut) for cut in cuts], np.bool_)


@lru_cache(maxsize=2**14)
def _encode_prefix(text: bytes) -> int:
    return int(encode_prefixes(_to_row(text))[0])


@lru_cache(maxsize=2**14)
def _encode_hash(text: bytes) -> int:
    return int(_encode_texts(Axis("", hashed=True), _to_row(text))[0])


def _to_row(text: bytes) -> Bytes:
    return Bytes(np.array([0, len(text)]), np.frombuffer(text, np.uint8))


def _is_long_text(low: bytes, high: bytes) -> bool:
    """Whether a side is one text, too long for its code."""
    return high == low + b"\0" and len(low) > PREFIX


def is_exact(values: ValueSet) -> bool:
    """Whether codes alone decide which values are in a side; otherwise texts must be compared."""
    if not values.spans or not isinstance(values.spans[0][0], bytes):
        return True
    return all(_is_exact_cut(cut) for span in values.spans for cut in span)


def are_exact(values: ValueSet, count: int) -> Bools:
    """The same of so many boxes that are alike."""
    if not values.spans or not isinstance(values.spans[0][0][0], bytes):
        return np.ones(count, np.bool_)
    ((lows, highs),) = values.spans
    return _are_exact_cuts(lows) & _are_exact_cuts(highs)


def _is_exact_cut(cut: bytes) -> bool:
    """Whether no text below a cut has the cut's code: it fits into a code, or exceeds it by one zero byte only."""
    return len(cut) <= PREFIX or (len(cut) == PREFIX + 1 and cut.endswith(b"\0"))
