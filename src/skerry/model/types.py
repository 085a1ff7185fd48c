"""SQL's type names and Arrow's types, side by side."""

import re
from collections.abc import Mapping

import pyarrow as pa

__all__ = [
    "JSON",
    "SQL_TYPES",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "has_sql_name",
    "is_json",
    "name_column_type",
    "parse_field",
    "sql_name",
]

TIMESTAMP = pa.timestamp("us")
TIMESTAMPTZ = pa.timestamp("us", "UTC")
JSON = "JSON"
"""A text that is JSON: to Arrow a text, so that its field says it (``is_json``)."""

SQL_TYPES: Mapping[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "DATE": pa.date32(),
    "TIME": pa.time64("us"),
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMPTZ": TIMESTAMPTZ,
}
"""What a column can be declared as and compared by, under the names that DuckDB understands."""

_OTHERS: Mapping[str, pa.DataType] = {
    "INTERVAL": pa.month_day_nano_interval(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINTEGER": pa.uint32(),
    "UBIGINT": pa.uint64(),
}
_TYPES = {**SQL_TYPES, **_OTHERS}
_NAMES = {type_: name for name, type_ in _TYPES.items()}
_IS_JSON = {b"sql_type": JSON.encode()}


def sql_name(type_: pa.DataType) -> str:
    """Name an Arrow type as SQL does, or as Arrow does where SQL has no word.

    >>> sql_name(pa.float64()), sql_name(pa.list_(pa.decimal128(9, 2)))
    ('DOUBLE', 'DECIMAL(9, 2)[]')
    """
    if pa.types.is_decimal128(type_):
        return f"DECIMAL({type_.precision}, {type_.scale})"
    if pa.types.is_list(type_) and has_sql_name(type_.value_type):
        return f"{sql_name(type_.value_type)}[]"
    return _NAMES.get(type_, str(type_))


def has_sql_name(type_: pa.DataType) -> bool:
    """Whether SQL has a word for an Arrow type."""
    return (
        type_ in _NAMES or pa.types.is_decimal128(type_) or (pa.types.is_list(type_) and has_sql_name(type_.value_type))
    )


def name_column_type(field: pa.Field) -> str:
    """The type of a declared column, as SQL has it.

    >>> name_column_type(parse_field("payload", "JSON"))
    'JSON'
    """
    return JSON if is_json(field) else sql_name(field.type)


def is_json(field: pa.Field) -> bool:
    """Whether a column was declared as JSON."""
    return bool(field.metadata) and field.metadata.get(b"sql_type") == _IS_JSON[b"sql_type"]


def parse_field(name: str, type_name: str) -> pa.Field | None:
    """A column by its name and that of its type, as ``name_column_type`` gives it; None if there is no such type.

    >>> parse_field("prices", "DECIMAL(9, 2)[]").type
    ListType(list<item: decimal128(9, 2)>)
    """
    if type_name == JSON:
        return pa.field(name, pa.string(), metadata=_IS_JSON)
    type_ = _parse_type(type_name)
    return None if type_ is None else pa.field(name, type_)


def _parse_type(name: str) -> pa.DataType | None:
    if name.endswith("[]"):
        inner = _parse_type(name.removesuffix("[]"))
        return None if inner is None else pa.list_(inner)
    digits = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", name)
    if digits is None:
        return _TYPES.get(name)
    precision, scale = int(digits[1]), int(digits[2])
    return pa.decimal128(precision, scale) if 1 <= precision <= 38 and scale <= precision else None
