"""Answers into a folder: ``p.csv`` for each output, or as it says, rows sorted, as its mode has it.

final      what holds at the end
inserts    _ts, and what began to hold then
changes    _ts, _op (+ or -), and what began or ceased to hold then
snapshot   _ts, and all that held after a tick that changed something
"""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from skerry.deduce.change import Change
from skerry.deduce.json_values import write_json
from skerry.deduce.values import Row, row_key, sort_key
from skerry.errors import SourceError
from skerry.model.term import Compound, Value
from skerry.plan.program import Checked, Output, Predicate, Type

__all__ = ["Outputs", "file_name", "sort_rows", "write_answers"]

_PLAIN = (Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIME)
"""Columns of these sort as Python sorts them."""


class Outputs:
    """Collects what ticks change in a program's outputs, and writes it at the end."""

    def __init__(self, checked: Checked, unit: int) -> None:
        self._checked, self._unit = checked, unit
        self._held: dict[str, dict[object, Row]] = {output.predicate: {} for output in checked.outputs}
        self._lines: dict[Output, list[list[str]]] = {output: [] for output in checked.outputs}

    def add(self, now: int | None, changes: Mapping[str, Change]) -> None:
        """Take in what a tick changed."""
        for predicate, held in self._held.items():
            change = changes.get(predicate, Change())
            for row in change.deleted:
                held.pop(row_key(row), None)
            held.update((row_key(row), row) for row in change.inserted)
        for output, lines in self._lines.items():
            change = changes.get(output.predicate, Change())
            if len(change.inserted) or len(change.deleted):
                lines += self._format_change(output, now, change)

    def write(self, folder: Path) -> Mapping[str, int]:
        """Write all files; return how many rows each has."""
        counts = {}
        for output, lines in self._lines.items():
            predicate = self._checked.predicates[output.predicate]
            first = {"final": [], "changes": ["_ts", "_op"]}.get(output.mode, ["_ts"])
            if output.mode == "final":
                lines = _format_rows(predicate, self._held[output.predicate].values(), self._unit)
            name = file_name(output)
            _write_rows(folder / f"{name}.csv", [*first, *_column_names(predicate)], lines)
            counts[name] = len(lines)
        return counts

    def _format_change(self, output: Output, now: int | None, change: Change) -> list[list[str]]:
        """The lines of a tick, as the output's mode has them."""
        predicate = self._checked.predicates[output.predicate]
        moment = "" if now is None else _format_value(now, Type.TIME, self._unit)
        match output.mode:
            case "inserts":
                return [[moment, *row] for row in _format_rows(predicate, change.inserted, self._unit)]
            case "snapshot":
                return [
                    [moment, *row] for row in _format_rows(predicate, self._held[output.predicate].values(), self._unit)
                ]
            case "changes":
                come = [[moment, "+", *row] for row in _format_rows(predicate, change.inserted, self._unit)]
                return come + [[moment, "-", *row] for row in _format_rows(predicate, change.deleted, self._unit)]
        return []


def write_answers(folder: Path, checked: Checked, output: Output, rows: Iterable[Row], unit: int) -> None:
    """Write some rows of an output's predicate."""
    predicate = output.predicate
    lines = _format_rows(checked.predicates[predicate], rows, unit)
    _write_rows(folder / f"{file_name(output)}.csv", _column_names(checked.predicates[predicate]), lines)


def _format_rows(predicate: Predicate, rows: Iterable[Row], unit: int) -> list[list[str]]:
    kinds = [column.type for column in predicate.columns]
    return [
        [_format_value(value, kind, unit) for value, kind in zip(row, kinds, strict=True)]
        for row in sort_rows(rows, predicate)
    ]


def sort_rows(rows: Iterable[Row], predicate: Predicate) -> list[Row]:
    """Rows by their values, from left to right."""
    if all(column.type in _PLAIN for column in predicate.columns):
        return sorted(rows)
    return sorted(rows, key=lambda row: tuple(map(sort_key, row)))


def _column_names(predicate: Predicate) -> list[str]:
    """The attributes of a predicate: as declared, or as the checks named them after the variables of its rules."""
    return [column.name for column in predicate.columns]


def file_name(output: Output) -> str:
    """What the file of an output is called: as it says, or as its predicate.

    >>> file_name(Output("uncov")), file_name(Output("uncov", to="../alerts"))
    ('uncov', '___alerts')
    """
    return output.predicate if output.to is None else re.sub(r"[^\w'-]", "_", output.to)


def _write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a file of answers, with its folder if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(row or ["()"] for row in rows)
    except OSError as error:
        raise SourceError(f"cannot write answers to {str(path)!r}: {error.strerror}") from None


def _format_value(value: Value, kind: Type, unit: int) -> str:
    """The text of a field: nested values as JSON, times as they came."""
    if isinstance(value, tuple | Compound):
        return write_json(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == Type.TIME and unit != 1 and isinstance(value, int):
        return _moment(value)
    return str(value)


def _moment(micros: int) -> str:
    """A timestamp in UTC; a number where the calendar ends."""
    try:
        return (datetime(1970, 1, 1) + timedelta(microseconds=micros)).isoformat(sep=" ")
    except OverflowError:
        return str(micros)
