"""``skerry sql``: a question to the history, the answers and the catalogue of a project."""

import json
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer

from skerry.cli.project import look_into
from skerry.errors import OptionError
from skerry.sinks.values import to_csv, to_json

__all__ = ["format_rows", "sql"]

_FORMATS = ("table", "csv", "jsonl")
_LONGEST_CELL = 80


def sql(
    query: Annotated[
        str,
        typer.Argument(help="One SELECT over history.STREAM, answers.VIEW, sensors, sources, views, subscriptions."),
    ],
    format_: Annotated[str, typer.Option("--format", help="table, csv or jsonl.")] = "table",
    json_: Annotated[bool, typer.Option("--json", help="JSON lines, as --format jsonl.")] = False,
    project: Annotated[Path, typer.Option(help="Project folder with a catalogue.")] = Path(),
) -> None:
    """Ask history, answers and catalogue of a project, in DuckDB's SQL. Its pipeline may run meanwhile.

    Example: skerry sql "SELECT sensor, max(speed) FROM history.traffic GROUP BY sensor"
    """
    typer.echo(format_rows(look_into(project).sql(query).to_arrow(), "jsonl" if json_ else format_), nl=False)


def format_rows(table: pa.Table, format_: str = "table") -> str:
    r"""Rows as text: aligned for people, as csv, or as a JSON object per line.

    >>> print(format_rows(pa.table({"name": ["a"], "tags": [["i80", "north"]]})), end="")
    name  tags
    a     ["i80", "north"]
    1 row
    >>> format_rows(pa.table({"name": ["a"], "tags": [["i80"]]}), "jsonl")
    '{"name": "a", "tags": ["i80"]}\n'
    """
    if format_ not in _FORMATS:
        raise OptionError(f"unknown format {format_!r}; known are {', '.join(_FORMATS)}")
    if format_ == "jsonl":
        rows = table.to_pylist(maps_as_pydicts="lossy")
        return "".join(json.dumps(to_json(row), ensure_ascii=False) + "\n" for row in rows)
    columns = [_to_texts(column) for column in table.columns]
    if format_ == "csv":
        return _write_csv(table.column_names, columns)
    return _align(table.column_names, columns, table.num_rows)


def _to_texts(column: pa.ChunkedArray) -> list[str | None]:
    whole = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    return [None if value is None else _write(value) for value in to_csv(whole).to_pylist()]


def _write(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _write_csv(names: list[str], columns: list[list[str | None]]) -> str:
    rows = zip(*columns, strict=True)
    lines = [names, *rows]
    return "".join(",".join("" if cell is None else _quote(cell) for cell in line) + "\n" for line in lines)


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if not cell or any(mark in cell for mark in ',"\r\n') else cell


def _align(names: list[str], columns: list[list[str | None]], count: int) -> str:
    """Columns side by side; what is long, or has line ends, is cut to one line."""
    shown = [[name, *(_shorten(cell) for cell in column)] for name, column in zip(names, columns, strict=True)]
    widths = [max(map(len, column)) for column in shown]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*shown, strict=True)]
    return "\n".join([*lines, f"{count} row{'' if count == 1 else 's'}", ""])


def _shorten(cell: str | None) -> str:
    if cell is None:
        return "NULL"
    line = " ".join(cell.split("\n"))
    return line if len(line) <= _LONGEST_CELL else f"{line[: _LONGEST_CELL - 3]}..."
