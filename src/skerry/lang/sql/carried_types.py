"""The types in which values leave an expression: those that Arrow, and the files of answers, have too.

Inside an expression DuckDB's types are all there. What has no counterpart outside is given as its text: BIT, ENUM,
UNION, VARIANT, GEOMETRY, BIGNUM, TIMETZ, UHUGEINT, and rows without names. HUGEINT becomes a decimal of 38 digits, and
times of another resolution become microseconds.
"""

from collections.abc import Mapping
from typing import Any

from duckdb.sqltypes import DuckDBPyType

__all__ = ["carry", "name_carried"]

_CARRIED: Mapping[str, str] = {
    **dict.fromkeys(("bignum", "bit", "enum", "geometry", "time with time zone"), "VARCHAR"),
    **dict.fromkeys(("tuple", "uhugeint", "union", "uuid", "variant"), "VARCHAR"),
    "hugeint": "DECIMAL(38, 0)",
    **dict.fromkeys(("timestamp_s", "timestamp_ms", "timestamp_ns"), "TIMESTAMP"),
    "null": "INTEGER",
    "time_ns": "TIME",
}


def carry(sql: str, type_: DuckDBPyType) -> str:
    """The expression, in a type that leaves DuckDB unchanged."""
    carried = name_carried(type_)
    return sql if carried == str(type_) else f"CAST({sql} AS {carried})"


def name_carried(type_: DuckDBPyType) -> str:
    """A type as DuckDB writes it, with parts replaced that have no counterpart."""
    kind = type_.id
    if kind in _CARRIED:
        return _CARRIED[kind]
    if kind == "list":
        return f"{name_carried(_children(type_)['child'])}[]"
    if kind == "array":
        return f"{name_carried(_children(type_)['child'])}[{_children(type_)['size']}]"
    if kind == "map":
        return f"MAP({name_carried(_children(type_)['key'])}, {name_carried(_children(type_)['value'])})"
    if kind == "struct" and any(name_carried(part) != str(part) for part in _children(type_).values()):
        return f"STRUCT({', '.join(f'{_quote(name)} {name_carried(part)}' for name, part in _children(type_).items())})"
    return str(type_)


def _children(type_: DuckDBPyType) -> dict[str, Any]:
    return dict(type_.children)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
