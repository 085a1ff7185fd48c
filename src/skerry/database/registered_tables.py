"""Frames that a program registers as tables.

A frame becomes a Parquet file and a declared table that reads it, so all that holds of tables in files holds of it: a
stream can be joined with it on every runtime, and when it is registered again a run that goes on takes up the new rows.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from sqlglot import exp

from skerry.errors import InputError
from skerry.model.atomic_write import replace_atomically
from skerry.model.dialect import Dialect
from skerry.model.types import TIMESTAMP, TIMESTAMPTZ, parse_field, sql_name

__all__ = ["RegisteredTables", "to_table"]


class RegisteredTables:
    """The files of a database's registered tables: in ``tables/`` of a project, or else in a private folder."""

    def __init__(self, base: Path, find_folder: Callable[[], Path]) -> None:
        """``find_folder`` gives the folder, absolute or from ``base`` on, when it is needed first."""
        self._base, self._find_folder = base, find_folder

    def write(self, name: str, frame: object, declare: Callable[[str], None]) -> None:
        """Write a frame down and declare it; if it cannot be declared, an earlier one stays as it was."""
        table, path = to_table(frame, name), self._find_path(name)
        whole = self._base / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(whole) as beside:
            pyarrow.parquet.write_table(table, beside)
            declare(_write_statement(name, table.schema, path))

    def remove(self, name: str, carry_out: Callable[[str], None]) -> None:
        """Drop a table, and remove its file."""
        carry_out(exp.Drop(tables=[_name_table(name)], kind="TABLE").sql("risingwave"))
        (self._base / self._find_path(name)).unlink(missing_ok=True)

    def _find_path(self, name: str) -> Path:
        return self._find_folder() / f"{name}.parquet"


def to_table(frame: Any, name: str) -> pa.Table:
    """A frame's rows in types that columns can have.

    >>> to_table(pa.table({"id": pa.array(["a", "b", "a"]).dictionary_encode()}), "devices").schema.field("id").type
    DataType(string)
    """
    table = _read_frame(frame, name)
    try:
        return table.cast(pa.schema([pa.field(str(field.name), _find_type(field, name)) for field in table.schema]))
    except pa.ArrowInvalid as error:
        raise InputError(f"table {name!r} cannot be registered: {error}") from None


def _read_frame(frame: Any, name: str) -> pa.Table:
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        return pa.Table.from_pandas(frame, preserve_index=False)
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    kind = type(frame).__name__
    raise InputError(f"table {name!r} is registered from a pandas or Polars frame or an Arrow table, got {kind}")


def _find_type(field: pa.Field, name: str) -> pa.DataType:
    """The type that a column is kept in: that of its values, in microseconds, without a dictionary."""
    type_ = _simplify(field.type)
    if parse_field(field.name, sql_name(type_)) is None:
        message = f"column {field.name!r} of table {name!r} is {field.type}, which no column can be"
        raise InputError(f"{message}; take it apart, or write it as JSON in a VARCHAR")
    return type_


def _simplify(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(type_):
        return _simplify(type_.value_type)
    if pa.types.is_timestamp(type_):
        return TIMESTAMP if type_.tz is None else TIMESTAMPTZ
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_) or pa.types.is_null(type_):
        return pa.string()
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return pa.list_(_simplify(type_.value_type))
    if pa.types.is_date64(type_):
        return pa.date32()
    if type_ in (pa.int8(), pa.uint8()):
        return pa.int16()
    return pa.time64("us") if pa.types.is_time(type_) else type_


def _write_statement(name: str, schema: pa.Schema, path: Path) -> str:
    """The statement that declares a table, written from a syntax tree: names and paths may hold anything."""
    columns = [
        exp.ColumnDef(
            this=exp.to_identifier(field.name, quoted=True),
            kind=exp.DataType.build(sql_name(field.type), dialect=Dialect),
        )
        for field in schema
    ]
    options = [
        exp.Property(this=exp.Literal.string(option), value=exp.Literal.string(value))
        for option, value in (("connector", "file"), ("path", str(path)))
    ]
    declared = exp.Schema(this=_name_table(name), expressions=columns)
    properties = exp.Properties(expressions=options)
    return exp.Create(this=declared, kind="TABLE", replace=True, properties=properties).sql("risingwave")


def _name_table(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
