"""Named arrays and lists of texts as bytes, and back."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from skerry.model.batch import pack, unpack

__all__ = ["pack_arrays", "unpack_arrays"]


def pack_arrays(parts: Mapping[str, object]) -> bytes:
    """Write arrays of numbers, row by row, and lists of texts or bytes, each as the one value of a column.

    >>> unpack_arrays(pack_arrays({"numbers": np.array([[1, 2], [3, 4]]), "names": ["a"]}))["numbers"].to_pylist()
    [1, 2, 3, 4]
    """
    return pack(pa.RecordBatch.from_pydict({name: _column(part) for name, part in parts.items()}))


def _column(part: object) -> pa.Array:
    if isinstance(part, np.ndarray):
        values = pa.array(part.ravel())
    else:
        texts = list(part) if isinstance(part, list) else []
        values = pa.array(texts, pa.large_binary() if texts and isinstance(texts[0], bytes) else pa.large_string())
    return pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)


def unpack_arrays(blob: bytes) -> dict[str, pa.Array]:
    """What ``pack_arrays`` packed, each array flat."""
    batch = unpack(blob)
    return {name: batch.column(name).flatten() for name in batch.schema.names}
