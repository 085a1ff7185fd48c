"""Subscriptions from a file: JSON lines or Parquet, with id, stream, predicate and perhaps sink."""

from pathlib import Path

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from skerry.catalog import Subscription
from skerry.errors import InputError

__all__ = ["read_subscriptions"]

_NEEDED = ("id", "stream", "predicate")
_SCHEMA = pa.schema([pa.field(name, pa.string()) for name in (*_NEEDED, "sink")])
_BLOCK = 16 << 20


def read_subscriptions(path: Path) -> list[Subscription]:
    """All subscriptions of a file."""
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r} with subscriptions")
    try:
        table = _parquet(path) if path.suffix == ".parquet" else _json_lines(path)
    except pa.ArrowException as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot read subscriptions from {str(path)!r}: {reason}") from None
    missing = [name for name in _NEEDED if name not in table.column_names]
    if missing:
        found = ", ".join(table.column_names) or "none"
        raise InputError(
            f"{str(path)!r} has no {missing[0]!r}; a subscription has id, stream, predicate; found {found}"
        )
    known = [name for name in _SCHEMA.names if name in table.column_names]
    columns = {name: table.column(name).cast(pa.string()).to_pylist() for name in known}
    for name in _NEEDED:
        if None in columns[name]:
            raise InputError(f"{str(path)!r}, entry {columns[name].index(None) + 1}: {name!r} is missing")
    sinks = columns.get("sink", [None] * table.num_rows)
    return [Subscription(*each) for each in zip(*(columns[name] for name in _NEEDED), sinks, strict=True)]


def _parquet(path: Path) -> pa.Table:
    names = pa.parquet.read_schema(path).names
    return pa.parquet.read_table(path, columns=[name for name in _SCHEMA.names if name in names])


def _json_lines(path: Path) -> pa.Table:
    if not path.stat().st_size:
        return _SCHEMA.empty_table()
    return pa.json.read_json(path, read_options=pa.json.ReadOptions(block_size=_BLOCK))
