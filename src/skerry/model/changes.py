"""Relations that change: a row that is true from now on has ``+`` in its column ``_op``, one that is no more ``-``.

What a changing relation holds at a moment is the net of its rows so far: each ``-`` takes an equal ``+`` back.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools

__all__ = ["MINUS", "OP", "OP_FIELD", "PLUS", "drop_op", "mark_minus", "with_op"]

OP = "_op"
"""The column that says what becomes of a row."""
PLUS, MINUS = "+", "-"
OP_FIELD = pa.field(OP, pa.string())


def drop_op(schema: pa.Schema) -> pa.Schema:
    """The columns of the rows of a changing relation.

    >>> drop_op(pa.schema([OP_FIELD, pa.field("speed", pa.float64())])).names
    ['speed']
    """
    return pa.schema([field for field in schema if field.name != OP])


def mark_minus(rows: pa.RecordBatch, column: str = OP) -> Bools:
    """Which rows are taken back.

    >>> mark_minus(pa.record_batch({"_op": ["+", "-"]})).tolist()
    [False, True]
    """
    ops = rows.column(column).dictionary_encode()
    is_minus = np.array([value == MINUS for value in ops.dictionary.to_pylist()], np.bool_)
    return is_minus[ops.indices.to_numpy()] if len(ops) else np.zeros(0, np.bool_)


def with_op(rows: pa.RecordBatch, is_minus: Bools | Sequence[bool]) -> pa.RecordBatch:
    """Rows behind what becomes of them.

    >>> with_op(pa.record_batch({"speed": [20.0]}), [True]).to_pydict()
    {'_op': ['-'], 'speed': [20.0]}
    """
    indices = pa.array(np.asarray(is_minus, np.bool_).astype(np.int8))
    ops = pa.DictionaryArray.from_arrays(indices, pa.array([PLUS, MINUS])).cast(pa.string())
    return pa.RecordBatch.from_arrays([ops, *rows.columns], schema=pa.schema([OP_FIELD, *rows.schema]))
