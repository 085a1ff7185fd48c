"""Files of facts: ``p.csv`` with a header, or ``p.facts``, tab-separated without one. Fields stay text here.

A predicate without columns has one fact at the most. Its file has a line for it, ``()`` or nothing at all; a csv has an
empty header before that.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from skerry.errors import SourceError
from skerry.plan.program import Predicate

__all__ = ["FactsFile"]

_OPERATION, _TIME = "_op", "_ts"
_NOTHING = "()"
"""How a fact without columns is written."""


@dataclass(frozen=True)
class FactsFile:
    """The fields of a predicate's file, as text."""

    path: Path
    predicate: Predicate
    header: tuple[str, ...]
    fields: pa.Table

    @classmethod
    def open(cls, folder: Path, predicate: Predicate) -> "FactsFile":
        """Find and read the file of a predicate."""
        path = _find_file(folder, predicate.name)
        try:
            if not predicate.columns and not _has_own_columns(path):
                return cls(path, predicate, (_NOTHING,), _read_empty_rows(path))
            header = _header(path, predicate)
            fields = _read_fields(path, header)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"cannot read {str(path)!r}: {error}") from None
        return cls(path, predicate, header, fields)

    @property
    def columns(self) -> "list[pa.ChunkedArray[Any]]":
        """The predicate's columns, in its own order."""
        names = [column.name for column in self.predicate.columns]
        if not names:
            return []
        if not self.predicate.declared or not set(names) <= set(self.header):
            names = [name for name in self.header if name not in (_TIME, _OPERATION)]
        return [self.fields.column(name) for name in names]

    @property
    def times(self) -> "pa.ChunkedArray[Any] | None":
        """When rows come or go, if the file says so."""
        return self.fields.column(_TIME) if _TIME in self.header else None

    def operations(self) -> list[bool]:
        """For each row whether it comes, not goes."""
        if _OPERATION not in self.header:
            return [True] * self.fields.num_rows
        found = self.fields.column(_OPERATION).to_pylist()
        for row, operation in enumerate(found):
            if operation not in ("+", "-"):
                raise self.make_error(row, _OPERATION, "+ or -", operation)
        return [operation == "+" for operation in found]

    def make_error(self, row: int, column: str, expected: str, got: str) -> SourceError:
        """The error of a field that cannot be read, with its line."""
        lines = [line for line, _ in _lines(self.path)]
        line = lines[row + (self.path.suffix == ".csv")]
        shown = got if len(got) <= 60 else f"{got[:60]}..."
        return SourceError(f"{str(self.path)!r}, line {line}, column {column!r}: expected {expected}, got {shown!r}")


def _find_file(folder: Path, name: str) -> Path:
    paths = [folder / f"{name}{suffix}" for suffix in (".csv", ".facts")]
    there = [path for path in paths if path.is_file()]
    if len(there) == 1:
        return there[0]
    if there:
        raise SourceError(f"the facts of {name!r} stand twice, in {str(there[0])!r} and {str(there[1])!r}")
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".csv", ".facts"))
    raise SourceError(
        f"there are no facts of {name!r}: neither {name}.csv nor {name}.facts is in {str(folder)!r}; "
        f"it has {', '.join(files) or 'none'}"
    )


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file with the line that each ends in, read slowly; empty lines are no rows."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file) if path.suffix == ".csv" else csv.reader(file, "excel-tab", quoting=csv.QUOTE_NONE)
        for row in reader:
            if row:
                yield reader.line_num, row


def _has_own_columns(path: Path) -> bool:
    """Whether a file says when its facts come or go."""
    header = next(_lines(path), (0, []))[1]
    return path.suffix == ".csv" and any(name.strip() in (_TIME, _OPERATION) for name in header)


def _read_empty_rows(path: Path) -> pa.Table:
    with path.open(encoding="utf-8-sig") as file:
        lines = [line.strip() for line in file]
    for number, line in enumerate(lines, 1):
        if line not in ("", _NOTHING):
            shown = line if len(line) <= 60 else f"{line[:60]}..."
            raise SourceError(
                f"{str(path)!r}, line {number}: a predicate without columns has the fact {_NOTHING}, got {shown!r}"
            )
    facts = lines[1:] if path.suffix == ".csv" and lines[:1] == [""] else lines
    return pa.table({_NOTHING: pa.array(facts, pa.string())})


def _header(path: Path, predicate: Predicate) -> tuple[str, ...]:
    names = tuple(column.name for column in predicate.columns)
    if path.suffix == ".facts":
        return names
    _, first = next(_lines(path), (0, None))
    if first is None:
        raise SourceError(f"{str(path)!r} has no header; expected {', '.join(names)}")
    header = tuple(name.strip() for name in first)
    own = [name for name in header if name not in (_TIME, _OPERATION)]
    fits = len(own) == len(names) if not predicate.declared else sorted(own) == sorted(names)
    if not fits or len(set(header)) < len(header):
        raise SourceError(f"{str(path)!r} has the columns {', '.join(header)}; expected {', '.join(names)}")
    return header


def _read_fields(path: Path, header: Sequence[str]) -> pa.Table:
    tabs = path.suffix == ".facts"
    try:
        return arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(column_names=list(header), skip_rows=0 if tabs else 1),
            arrow_csv.ParseOptions(
                delimiter="\t" if tabs else ",", quote_char=False if tabs else '"', newlines_in_values=not tabs
            ),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        return _read_slowly(path, header, str(error))


def _read_slowly(path: Path, header: Sequence[str], reason: str) -> pa.Table:
    """Find out which line Arrow could not read; a file without rows is what it does not take for one."""
    rows = list(_lines(path))[0 if path.suffix == ".facts" else 1 :]
    for line, row in rows:
        if len(row) != len(header):
            raise SourceError(f"{str(path)!r}, line {line}: expected {len(header)} cells, got {len(row)}")
    if rows:
        raise SourceError(f"cannot read {str(path)!r}: {reason}")
    return pa.table({name: pa.array([], pa.string()) for name in header})
