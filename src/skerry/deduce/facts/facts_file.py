"""Files of facts: ``p.csv`` with a header, or ``p.facts``, tab-separated without one. Cells stay text here."""

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


@dataclass(frozen=True)
class FactsFile:
    """The cells of a predicate's file, as text."""

    path: Path
    predicate: Predicate
    header: tuple[str, ...]
    cells: pa.Table

    @classmethod
    def opened(cls, folder: Path, predicate: Predicate) -> "FactsFile":
        """Find and read the file of a predicate."""
        path = _found(folder, predicate.name)
        try:
            header = _header(path, predicate)
            cells = _cells(path, header)
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise SourceError(f"cannot read {str(path)!r}: {error}") from None
        return cls(path, predicate, header, cells)

    @property
    def columns(self) -> "list[pa.ChunkedArray[Any]]":
        """The predicate's columns, in its own order."""
        names = [column.name for column in self.predicate.columns]
        if not self.predicate.declared or not set(names) <= set(self.header):
            names = [name for name in self.header if name not in (_TIME, _OPERATION)]
        return [self.cells.column(name) for name in names]

    @property
    def times(self) -> "pa.ChunkedArray[Any] | None":
        """When rows come or go, if the file says so."""
        return self.cells.column(_TIME) if _TIME in self.header else None

    def operations(self) -> list[bool]:
        """For each row whether it comes, not goes."""
        if _OPERATION not in self.header:
            return [True] * self.cells.num_rows
        found = self.cells.column(_OPERATION).to_pylist()
        for place, operation in enumerate(found):
            if operation not in ("+", "-"):
                raise self.wrong(place, _OPERATION, "+ or -", operation)
        return [operation == "+" for operation in found]

    def wrong(self, place: int, column: str, expected: str, got: str) -> SourceError:
        """Say which cell cannot be read, by the line it stands in."""
        lines = [line for line, _ in _lines(self.path)]
        line = lines[place + (self.path.suffix == ".csv")]
        shown = got if len(got) <= 60 else f"{got[:60]}..."
        return SourceError(f"{str(self.path)!r}, line {line}, column {column!r}: expected {expected}, got {shown!r}")


def _found(folder: Path, name: str) -> Path:
    paths = [folder / f"{name}{suffix}" for suffix in (".csv", ".facts")]
    there = [path for path in paths if path.is_file()]
    if len(there) == 1:
        return there[0]
    if there:
        raise SourceError(f"the facts of {name!r} stand twice, in {str(there[0])!r} and {str(there[1])!r}")
    if not folder.is_dir():
        raise SourceError(f"there is no folder {str(folder)!r} with facts")
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


def _cells(path: Path, header: Sequence[str]) -> pa.Table:
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
        return _slowly(path, header, str(error))


def _slowly(path: Path, header: Sequence[str], reason: str) -> pa.Table:
    """Find out which line Arrow could not read; a file without rows is what it does not take for one."""
    rows = list(_lines(path))[0 if path.suffix == ".facts" else 1 :]
    for line, row in rows:
        if len(row) != len(header):
            raise SourceError(f"{str(path)!r}, line {line}: expected {len(header)} cells, got {len(row)}")
    if rows:
        raise SourceError(f"cannot read {str(path)!r}: {reason}")
    return pa.table({name: pa.array([], pa.string()) for name in header})
