"""Rows of a CSV file with the line that each stands on, and the numbers in them."""

import csv
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path

from skerry.errors import InputError

__all__ = ["read_mote", "read_number", "read_rows"]


def read_rows(path: Path, wanted: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows with where they stand; the wanted columns are there."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file, skipinitialspace=True)
            missing = [name for name in wanted if name not in (rows.fieldnames or ())]
            if missing:
                got = ", ".join(rows.fieldnames or ()) or "none"
                raise InputError(f"{path}: no column {missing[0]!r}; its columns: {got}")
            for row in rows:
                if None in row or None in row.values():
                    raise InputError(f"{path}, line {rows.line_num}: not as many values as columns")
                yield f"{path}, line {rows.line_num}", row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error


def read_mote(text: str, where: str) -> int:
    """The number of a mote."""
    if not (text.strip().isascii() and text.strip().isdigit() and len(text) <= _MOST_DIGITS):
        raise InputError(f"{where}: a mote is a whole number from 0 on; got {text!r}")
    return int(text)


def read_number(text: str, where: str) -> float:
    """A number that is finite."""
    try:
        number = float(text)
    except ValueError as error:
        raise InputError(f"{where}: not a number: {text!r}") from error
    if not isfinite(number):
        raise InputError(f"{where}: not a finite number: {text!r}")
    return number


_MOST_DIGITS = 20
"""Longer ones are no numbers of motes, and take long to read."""
