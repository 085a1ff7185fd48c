"""Answers into a folder: ``p.csv`` for each output, or as it says, rows sorted, as its mode has it.

final      what holds at the end
inserts    _ts, and what began to hold then
changes    _ts, _op (+ or -), and what began or ceased to hold then
snapshot   _ts, and all that held after a tick that changed something
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from skerry.deduce.change import Change
from skerry.deduce.facts.csv_lines import EncodedRows, format_fields, format_value, sort_lines
from skerry.deduce.values import Row, row_key
from skerry.errors import SourceError
from skerry.model.atomic_write import replace_atomically
from skerry.model.folder_error import explain_folder
from skerry.plan.program import Checked, Output, Predicate, Type

__all__ = ["Holds", "Outputs", "column_names", "file_name", "write_answers", "write_lines"]

Holds = Callable[[str], Sequence[Row] | EncodedRows]
"""Says what holds of a predicate now."""
_BEFORE = {"final": [], "changes": ["_ts", "_op"]}


class Outputs:
    """Collects what ticks change in a program's outputs, and writes it at the end.

    With ``holds``, that is asked for what holds. Without, it is put together from what the ticks changed: then what
    silent expiry took away, which is not reported as a change, is still there.
    """

    def __init__(self, checked: Checked, unit: int, holds: Holds | None = None) -> None:
        self._checked, self._unit = checked, unit
        self._held: dict[str, dict[object, Row]] = {output.predicate: {} for output in checked.outputs}
        self._asked = holds
        self._lines: dict[Output, list[memoryview]] = {output: [] for output in checked.outputs}
        self._counts = dict.fromkeys(checked.outputs, 0)

    def add(self, now: int | None, changes: Mapping[str, Change]) -> None:
        """Take in what a tick changed."""
        for predicate, held in self._held.items() if self._asked is None else ():
            change = changes.get(predicate, Change())
            for row in change.deleted:
                held.pop(row_key(row), None)
            held.update((row_key(row), row) for row in change.inserted)
        for output in self._lines:
            change = changes.get(output.predicate, Change())
            if len(change.inserted) or len(change.deleted):
                self._add_change(output, now, change)

    def write(self, folder: Path) -> Mapping[str, int]:
        """Write all files; return how many rows each has."""
        counts: dict[str, int] = {}
        for output, lines in self._lines.items():
            if output.mode == "final":
                self._add_lines(output, [], self._find_held(output.predicate))
            name = file_name(output)
            header = [*_BEFORE.get(output.mode, ["_ts"]), *column_names(self._predicate(output))]
            write_lines(folder / f"{name}.csv", header, lines)
            counts[name] = self._counts[output]
        return counts

    def _predicate(self, output: Output) -> Predicate:
        return self._checked.predicates[output.predicate]

    def _find_held(self, predicate: str) -> Sequence[Row] | EncodedRows:
        return list(self._held[predicate].values()) if self._asked is None else self._asked(predicate)

    def _add_change(self, output: Output, now: int | None, change: Change) -> None:
        """The lines of a tick, as the output's mode has them."""
        moment = "" if now is None else format_value(now, Type.TIME, self._unit)
        match output.mode:
            case "inserts":
                self._add_lines(output, [moment], change.inserted)
            case "snapshot":
                self._add_lines(output, [moment], self._find_held(output.predicate))
            case "changes":
                self._add_lines(output, [moment, "+"], change.inserted)
                self._add_lines(output, [moment, "-"], change.deleted)

    def _add_lines(self, output: Output, before: Sequence[str], rows: Sequence[Row] | EncodedRows) -> None:
        self._lines[output] += sort_lines(rows, self._predicate(output), self._unit, before)
        self._counts[output] += len(rows)


def write_answers(folder: Path, checked: Checked, output: Output, rows: Sequence[Row] | EncodedRows, unit: int) -> None:
    """Write some rows of an output's predicate."""
    predicate = checked.predicates[output.predicate]
    write_lines(folder / f"{file_name(output)}.csv", column_names(predicate), sort_lines(rows, predicate, unit))


def write_lines(path: Path, header: Sequence[str], lines: Iterable[memoryview | bytes]) -> None:
    """Write a file of answers, with its folder if need be. Until it is complete, the file before stays there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_atomically(path) as beside, beside.open("wb") as file:
            for piece in chain([f"{format_fields(header)}\n".encode()], lines):
                file.write(piece)
    except OSError as error:
        raise SourceError(f"cannot write answers to {str(path)!r}: {explain_folder(error)}") from None


def column_names(predicate: Predicate) -> list[str]:
    """The attributes of a predicate: as declared, or as the checks named them after the variables of its rules."""
    return [column.name for column in predicate.columns]


def file_name(output: Output) -> str:
    """What the file of an output is called: as it says, or as its predicate.

    >>> file_name(Output("uncov")), file_name(Output("uncov", to="../alerts"))
    ('uncov', '___alerts')
    """
    return output.predicate if output.to is None else re.sub(r"[^\w'-]", "_", output.to)
