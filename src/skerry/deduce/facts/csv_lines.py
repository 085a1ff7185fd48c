"""Rows as lines of a csv file, sorted by their values from left to right.

No row is handled by itself: a column is an array of numbers in the order of its values, so that rows are sorted as
numbers, and its texts are looked up by them.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.deduce.json_values import write_json
from skerry.deduce.values import Row, key, sort_key
from skerry.model.arrays import Int64s
from skerry.model.term import Compound, Value
from skerry.plan.program import Column, Predicate, Type

__all__ = ["EncodedRows", "format_fields", "format_value", "sort_lines"]

_PIECE = 1 << 20
"""How many lines are put together at once."""
_LARGEST_KEY = 2**62
_SPECIAL = frozenset(',"\r\n')


@runtime_checkable
class EncodedRows(Protocol):
    """Rows whose columns are numbers."""

    def __len__(self) -> int:
        """How many there are."""

    def column(self, index: int) -> tuple[Int64s, Sequence[Value] | None]:
        """A number per row, and what the numbers stand for; None: for themselves."""


class _Field(NamedTuple):
    """A column: numbers in the order of the values, and their texts; None: the numbers are the texts."""

    numbers: Int64s
    texts: pa.Array | None


def sort_lines(
    rows: Sequence[Row] | EncodedRows, predicate: Predicate, unit: int, before: Sequence[str] = ()
) -> Iterator[memoryview]:
    r"""The lines of some rows, in pieces; ``before`` stands at the head of each line.

    >>> from skerry.plan.program import Column, Predicate, Type
    >>> p = Predicate("p", (Column("x", Type.INT), Column("y", Type.STRING)), base=False)
    >>> b"".join(sort_lines([(10, "a"), (2, "b, c")], p, 1, ["+"]))
    b'+,2,"b, c"\n+,10,a\n'
    """
    if not predicate.columns or not len(rows):
        yield memoryview((format_fields(before or ["()"]) + "\n").encode() * len(rows))
        return
    fields = [_make_field(rows, index, column, unit) for index, column in enumerate(predicate.columns)]
    if not before and len(fields) == 1:
        fields = [_quote_empty(*fields)]
    numbers = _sort([field.numbers for field in fields])
    for start in range(0, len(rows), _PIECE):
        columns = [
            _write_column(column[start : start + _PIECE], field.texts)
            for column, field in zip(numbers, fields, strict=True)
        ]
        yield _join_lines(before, columns)


def format_fields(fields: Iterable[str]) -> str:
    """A line without its end.

    >>> format_fields(["a", "b, c"])
    'a,"b, c"'
    """
    return ",".join(map(_quote, fields))


def format_value(value: Value, kind: Type, unit: int) -> str:
    """The text of a field: nested values as JSON, times as they came."""
    if isinstance(value, tuple | Compound):
        return write_json(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if kind == Type.TIME and unit != 1 and isinstance(value, int):
        return _format_moment(value)
    return str(value)


def _make_field(rows: Sequence[Row] | EncodedRows, index: int, column: Column, unit: int) -> _Field:
    numbers, values = rows.column(index) if isinstance(rows, EncodedRows) else _number(rows, index)
    if values is None and (column.type is not Type.TIME or unit == 1):
        return _Field(numbers, None)
    if values is None:
        different, numbers = np.unique(numbers, return_inverse=True)
        values = different.tolist()
    order = sorted(range(len(values)), key=lambda number: sort_key(values[number]))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    texts = [_quote(format_value(values[number], column.type, unit)) for number in order]
    return _Field(ranks[numbers], pa.array(texts, pa.large_string()))


def _number(rows: Sequence[Row], index: int) -> tuple[Int64s, Sequence[Value] | None]:
    """The values of a column, numbered."""
    values = [row[index] for row in rows]
    if set(map(type, values)) == {int}:
        return np.array(values, np.int64), None
    known: dict[object, int] = {}
    numbers = [known.setdefault(key(value), len(known)) for value in values]
    firsts = dict(zip(reversed(numbers), reversed(values), strict=True))
    return np.array(numbers, np.int64), [firsts[number] for number in range(len(known))]


def _sort(columns: Sequence[Int64s]) -> list[Int64s]:
    """Sort rows by their columns: as one number per row, where that has room for all of them."""
    least = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, least, strict=True)]
    size = 1
    for span in spans:
        size *= span
    if size >= _LARGEST_KEY:
        order = np.lexsort(columns[::-1])
        return [column[order] for column in columns]
    keys = columns[0] - least[0]
    for column, low, span in zip(columns[1:], least[1:], spans[1:], strict=True):
        keys *= span
        keys += column - low
    keys.sort()
    found = []
    for low, span in zip(reversed(least[1:]), reversed(spans[1:]), strict=True):
        keys, rest = np.divmod(keys, span)
        found.append(rest + low)
    return [keys + least[0], *reversed(found)]


def _write_column(numbers: Int64s, texts: pa.Array | None) -> pa.Array:
    if texts is None:
        return pa.array(numbers).cast(pa.string()).cast(pa.large_string())
    return texts.take(pa.array(numbers))


def _join_lines(before: Sequence[str], columns: Sequence[pa.Array]) -> memoryview:
    constants = [pa.scalar(_quote(text), pa.large_string()) for text in before]
    comma, end, nothing = (pa.scalar(text, pa.large_string()) for text in (",", "\n", ""))
    lines: Any = pc.binary_join_element_wise(*constants, *columns, comma)
    lines = pc.binary_join_element_wise(lines, nothing, end)
    _, offsets, data = lines.buffers()
    size = int(np.frombuffer(offsets, np.int64, len(lines) + 1)[-1])
    return memoryview(data)[:size]


def _quote_empty(field: _Field) -> _Field:
    """An empty text that is alone on its line would be no line."""
    if field.texts is None:
        return field
    texts = ['""' if text == "" else text for text in field.texts.to_pylist()]
    return field._replace(texts=pa.array(texts, pa.large_string()))


def _quote(text: str) -> str:
    return text if _SPECIAL.isdisjoint(text) else '"' + text.replace('"', '""') + '"'


def _format_moment(micros: int) -> str:
    """A timestamp in UTC; a number where the calendar ends."""
    try:
        return (datetime(1970, 1, 1) + timedelta(microseconds=micros)).isoformat(sep=" ")
    except OverflowError:
        return str(micros)
