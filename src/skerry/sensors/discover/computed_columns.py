"""Columns of text that mean a number or a time to whoever wrote them: what a source computes them by."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import permutations

from skerry.sensors.discover.columns import read_time_text
from skerry.sensors.discover.script import quote_name

__all__ = ["ComputedColumn", "find_computed"]

Row = Mapping[str, str | None]

_DECIMAL_COMMA = re.compile(r"-?\d+(,\d+)?")
_DAYS = ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%Y-%m-%d", "%d-%m-%Y", "%d-%b-%Y", "%d %b %Y", "%b %d %Y")
_TIMES = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p")
_FORMATS = tuple(f"{day} {time}" for day in _DAYS for time in _TIMES) + _DAYS


@dataclass(frozen=True)
class ComputedColumn:
    """A column that the file does not have: its name, how it is declared, and its value in a row."""

    name: str
    declaration: str
    compute: Callable[[Row], float | datetime | None]


def find_computed(rows: Sequence[Row], names: Sequence[str], delimiter: str) -> list[ComputedColumn]:
    """The columns to add to those of a CSV file.

    >>> rows = [{"Datum": "31.03.2026 10:00", "Grad": "18,4"}, {"Datum": "01.04.2026 10:00", "Grad": "18,6"}]
    >>> for column in find_computed(rows, ["Datum", "Grad"], ";"):
    ...     print(column.name, column.declaration)
    ts TIMESTAMP AS strptime("Datum", '%d.%m.%Y %H:%M')
    Grad_number DOUBLE AS CAST(replace("Grad", ',', '.') AS DOUBLE)
    """
    values = {name: [text for row in rows if (text := row.get(name))] for name in names}
    time = None if _has_time(values) else _find_time(rows, values)
    numbers = [] if delimiter == "," else [name for name in names if _has_decimal_comma(values[name])]
    return [*([time] if time else []), *map(_make_number, numbers)]


def _has_time(values: Mapping[str, Sequence[str]]) -> bool:
    return any(texts and all(read_time_text(text) is not None for text in texts) for texts in values.values())


def _has_decimal_comma(texts: Sequence[str]) -> bool:
    return any("," in text for text in texts) and all(_DECIMAL_COMMA.fullmatch(text.strip()) for text in texts)


def _make_number(name: str) -> ComputedColumn:
    def compute(row: Row) -> float | None:
        text = row.get(name)
        return float(text.replace(",", ".")) if text else None

    declaration = f"DOUBLE AS CAST(replace({quote_name(name)}, ',', '.') AS DOUBLE)"
    return ComputedColumn(f"{name}_number", declaration, compute)


def _find_time(rows: Sequence[Row], values: Mapping[str, Sequence[str]]) -> ComputedColumn | None:
    """A time in a form that is not read by itself, in one column or in two, of which the first has the day."""
    taken = {name.lower() for name in values}
    name = next(each for each in ("ts", "event_time", "measured_at", "ts_computed") if each not in taken)
    for columns in _list_candidates(values):
        first = next((text for row in rows if (text := _join(row, columns)) is not None), "")
        fitting = [each for each in _FORMATS if _read_text(first, each) is not None]
        texts = [text for row in rows if (text := _join(row, columns)) is not None] if fitting else []
        pattern = next((each for each in fitting if all(_read_text(text, each) for text in texts)), None)
        if pattern is not None:
            written = " || ' ' || ".join(map(quote_name, columns))
            return ComputedColumn(name, f"TIMESTAMP AS strptime({written}, '{pattern}')", _read(columns, pattern))
    return None


def _list_candidates(values: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """Columns that may be a day with its time of day; then each alone."""
    yield from permutations([name for name, texts in values.items() if texts and re.match(r".*\d", texts[0])], 2)
    yield from ((name,) for name, texts in values.items() if texts)


def _join(row: Row, columns: Sequence[str]) -> str | None:
    parts = [row.get(name) for name in columns]
    return None if any(part is None for part in parts) else " ".join(str(part) for part in parts)


def _read_text(text: str, pattern: str) -> datetime | None:
    with suppress(ValueError):
        return datetime.strptime(text, pattern)
    return None


def _read(columns: Sequence[str], pattern: str) -> Callable[[Row], datetime | None]:
    def compute(row: Row) -> datetime | None:
        text = _join(row, columns)
        return None if text is None else _read_text(text, pattern)

    return compute
