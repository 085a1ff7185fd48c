"""Join keys as 64-bit codes. A key with a NULL or a NaN in it equals nothing, not even itself."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.hash import mix
from skerry.model.arrays import Bools, Int64s
from skerry.operators.grouping import hash_column, integers

__all__ = ["equal_keys", "is_exact", "joinable", "key_codes"]


def is_exact(types: Sequence[pa.DataType]) -> bool:
    """Whether equal codes mean equal keys. If not, matches have to be verified on the keys themselves.

    >>> is_exact([pa.int64()]), is_exact([pa.string()]), is_exact([pa.int64(), pa.int64()])
    (True, False, False)
    """
    return len(types) == 1 and integers(pa.array([], types[0])) is not None


def key_codes(columns: Sequence[pa.Array], rows: int) -> tuple[Int64s, Bools]:
    """Codes that are equal where the keys are, and which rows may join at all.

    >>> codes, may_join = key_codes([pa.array([0.0, -0.0, None])], 3)
    >>> bool(codes[0] == codes[1]), may_join.tolist()
    (True, [True, True, False])
    """
    may_join = joinable(columns, rows)
    if len(columns) == 1 and (codes := integers(columns[0])) is not None:
        return codes, may_join
    hashes = np.zeros(rows, np.uint64)
    for column in columns:
        hashes = mix(hashes, hash_column(column))
    return hashes.view(np.int64), may_join


def joinable(columns: Sequence[pa.Array], rows: int) -> Bools:
    """Which rows have a value to compare in all columns.

    >>> joinable([pa.array([1.5, None, float("nan")])], 3).tolist()
    [True, False, False]
    """
    found = np.ones(rows, np.bool_)
    for column in columns:
        if column.null_count:
            found &= column.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_floating(column.type):
            found &= ~pc.is_nan(column.fill_null(0.0)).to_numpy(zero_copy_only=False)
    return found


def equal_keys(one: pa.RecordBatch, other: pa.RecordBatch) -> Bools:
    """In which rows all columns of two batches are equal; NULL and NaN equal nothing.

    >>> left, right = (pa.record_batch({"k": keys}) for keys in (["a", "b", None], ["a", "c", None]))
    >>> equal_keys(left, right).tolist()
    [True, False, False]
    """
    same = np.ones(one.num_rows, np.bool_)
    for mine, its in zip(one.columns, other.columns, strict=True):
        same &= pc.fill_null(pc.equal(mine, its), False).to_numpy(zero_copy_only=False)
    return same
