"""What a CSV file is like: what stands between its fields, and whether its first line names them."""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from skerry.sensors.discover.columns import read_time_text

__all__ = ["CsvDialect", "find_dialect"]

_DELIMITERS = (",", ";", "\t", "|")
_NUMBER = re.compile(r"-?\d+([.,]\d+)?")


@dataclass(frozen=True)
class CsvDialect:
    """A delimiter, and the names of the columns; ``has_header`` says whether the first line gives them."""

    delimiter: str = ","
    names: tuple[str, ...] = ()
    has_header: bool = True

    @property
    def options(self) -> dict[str, str]:
        """What a source must be told."""
        found = {} if self.delimiter == "," else {"delimiter": "\\t" if self.delimiter == "\t" else self.delimiter}
        return found if self.has_header else {**found, "header": "false"}

    def read(self, lines: Iterable[str]) -> Iterator[Mapping[str, str | None]]:
        """The rows by the names of their columns; an empty field is None."""
        rows = csv.reader(lines, delimiter=self.delimiter)
        if self.has_header:
            next(rows, None)
        for row in rows:
            if row:
                yield {name: value or None for name, value in zip(self.names, row, strict=False)}


def find_dialect(first: str) -> CsvDialect:
    r"""What a file is like, by its first line.

    >>> find_dialect("device;time;temp\n")
    CsvDialect(delimiter=';', names=('device', 'time', 'temp'), has_header=True)
    >>> find_dialect("a,2026-03-01 10:00:00,18.4\n").names
    ('column1', 'ts', 'column3')
    """
    fields = {each: next(csv.reader([first], delimiter=each), []) for each in _DELIMITERS}
    delimiter = max(_DELIMITERS, key=lambda each: len(fields[each]))
    names = fields[delimiter]
    if not any(_is_value(name) for name in names):
        return CsvDialect(delimiter, tuple(names))
    return CsvDialect(delimiter, tuple(_name_columns(names)), has_header=False)


def _name_columns(values: Sequence[str]) -> Iterator[str]:
    """Names for columns that have none: the first time is the time of the reading."""
    numbered = [f"column{number}" for number in range(1, len(values) + 1)]
    time = next((number for number, value in enumerate(values) if read_time_text(value) is not None), None)
    return chain(numbered) if time is None else chain(numbered[:time], ["ts"], numbered[time + 1 :])


def _is_value(field: str) -> bool:
    return _NUMBER.fullmatch(field.strip()) is not None or read_time_text(field.strip()) is not None
