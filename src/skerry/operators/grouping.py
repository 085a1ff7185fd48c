"""Rows with equal keys, over Arrow columns of any type. NULL equals NULL here, and NaN equals NaN."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.group import Groups, group
from skerry.kernels.hash import hash_bytes, hash_integers, mix
from skerry.model.arrays import Int64s, UInt64s

__all__ = ["buckets", "canonical", "group_rows", "hash_column", "integers"]


_WIDEST = 2**62
"""Codes of several columns are combined below this; beyond it they are numbered anew first, lest they overflow."""


def group_rows(columns: Sequence[pa.Array], rows: int) -> Groups:
    """Number the rows by their values in all columns; without columns, all rows are one group.

    >>> group_rows([pa.array([3, None, 3])], 3).numbers.tolist()
    [0, 1, 0]
    """
    codes, span = np.zeros(rows, np.int64), 1
    for column in columns:
        more, count = _codes(column)
        if span > _WIDEST // count:
            found = group(codes)
            codes, span = found.numbers, found.count
        codes, span = codes * count + more if span > 1 else more, span * count
    return group(codes)


def buckets(columns: Sequence[pa.Array], rows: int, count: int) -> Int64s:
    """The bucket of each row, by the hash of its keys. Equal keys meet in one bucket, whichever process computes it."""
    hashes = np.zeros(rows, np.uint64)
    for column in columns:
        hashes = mix(hashes, hash_column(column))
    return (hashes % np.uint64(count)).astype(np.int64)


def canonical(column: pa.Array) -> pa.Array:
    """Values that are equal as keys, spelled the same: -0.0 as 0.0, and one NaN for all.

    >>> canonical(pa.array([-0.0])).to_pylist()
    [0.0]
    """
    if not pa.types.is_floating(column.type):
        return column
    nan = pa.scalar(float("nan"), column.type)
    return pc.if_else(pc.is_nan(column), nan, pc.add(column, pa.scalar(0.0, column.type)))


def integers(column: pa.Array) -> Int64s | None:
    """A column as 64-bit integers that are equal where its values are, if its type allows; NULL as 0."""
    type_ = column.type
    if pa.types.is_floating(type_):
        doubles = _fill_null(column).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        return np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)
    if pa.types.is_timestamp(type_):
        return _fill_null(column.cast(pa.int64())).to_numpy()
    if pa.types.is_integer(type_) or pa.types.is_boolean(type_):
        return _fill_null(column).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return None


def _fill_null(column: pa.Array) -> pa.Array:
    return column.fill_null(pa.scalar(0, pa.int64()).cast(column.type)) if column.null_count else column


def _codes(column: pa.Array) -> tuple[Int64s, int]:
    """Numbers from 0 that are equal where the values are, and a bound that they stay under; NULL has its own."""
    values = integers(column)
    if values is None:
        dictionary = column.dictionary_encode()
        return dictionary.indices.fill_null(-1).to_numpy().astype(np.int64) + 1, len(dictionary.dictionary) + 1
    codes, count = _number(values)
    if not column.null_count:
        return codes, count
    return np.where(column.is_null().to_numpy(zero_copy_only=False), 0, codes + 1), count + 1


def _number(values: Int64s) -> tuple[Int64s, int]:
    """Numbers from 0, and a bound: the values less the least of them if they lie close together, else their groups."""
    if values.size == 0:
        return values, 1
    low, high = int(values.min()), int(values.max())
    if high - low <= 4 * values.size:
        return values - low, high - low + 1
    found = group(values)
    return found.numbers, found.count


def hash_column(column: pa.Array) -> UInt64s:
    """Hash each value of a column. Equal values have one hash, whichever process computes it."""
    codes = integers(column)
    if codes is not None:
        hashes = hash_integers(codes)
    else:
        text = pc.cast(column, pa.large_string()).fill_null("")
        _, offsets, data = text.buffers()
        ends = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
        hashes = hash_bytes(ends, np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8))
    if column.null_count:
        hashes = np.where(column.is_null().to_numpy(zero_copy_only=False), np.uint64(1), hashes)
    return hashes
