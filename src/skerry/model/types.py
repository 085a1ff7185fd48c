"""SQL's type names and Arrow's types, side by side."""

from collections.abc import Mapping

import pyarrow as pa

__all__ = ["SQL_TYPES", "TIMESTAMP", "sql_name"]

TIMESTAMP = pa.timestamp("us")

SQL_TYPES: Mapping[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "TIMESTAMP": TIMESTAMP,
}
"""What a column of a source can be declared as, under sqlglot's names for the types."""

_NAMES = {type_: name for name, type_ in SQL_TYPES.items()}


def sql_name(type_: pa.DataType) -> str:
    """Name an Arrow type as SQL does, or as Arrow does where SQL has no word.

    >>> sql_name(pa.float64())
    'DOUBLE'
    """
    return _NAMES.get(type_, str(type_))
