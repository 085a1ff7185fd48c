r"""Columns of any type into declared types. A value that does not fit becomes NULL, and nothing is guessed.

A text is a whole number if it is digits with a sign at most, and perhaps a fraction of zeros ('12.0', not
'12.7'); a number may have a fraction and an exponent, or be 'nan' or 'inf'; a time is what DuckDB reads as
TIMESTAMPTZ: a date, or a date and a time with or without an offset, without one in UTC. Spaces around
numbers and times do not matter.

All that needs a look at each value goes through DuckDB in one statement. Texts that Arrow's own cast
reads, and reads in the same way, are left to it, which is faster.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import types as kinds

from skerry.model.types import TIMESTAMP, sql_name
from skerry.sources.file.duck import query
from skerry.sources.file.lines import unpacked

__all__ = ["Column", "can_cast", "cast"]

Column: TypeAlias = "pa.Array[Any]"

_WHOLE_NUMBER = r"\s*[+-]?[0-9]+(\.0*)?\s*"
_NUMBER = r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))\s*"

_MICROS_A_TICK: Mapping[str, int] = {
    "timestamp[s]": 10**6,
    "timestamp[ms]": 10**3,
    "date32[day]": 86_400 * 10**6,
    "date64[ms]": 10**3,
}
_MOST = 2**63 - 1
_SAMPLE = 100
"""So many texts are tried first: a cast that fails takes Arrow far longer than one that does not."""

_COLON_AT = 13
"""Where the colon stands in '2026-01-31 00:00'. Times that have it there Arrow reads as DuckDB does, or not at all."""


def can_cast(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of one type can be read as another at all.

    >>> can_cast(pa.string(), TIMESTAMP), can_cast(pa.int64(), TIMESTAMP)
    (True, False)
    """
    if kinds.is_dictionary(source):
        return can_cast(source.value_type, target)
    if source == target or _is_text(source) or kinds.is_null(source):
        return True
    if _is_moment(source):
        return target in (TIMESTAMP, pa.string())
    exact = kinds.is_integer(source) or kinds.is_boolean(source)
    return (exact and target != TIMESTAMP) or (_is_fractional(source) and target not in (TIMESTAMP, pa.bool_()))


def cast(columns: Sequence[Column], targets: Sequence[pa.DataType]) -> list[Column]:
    """Turn columns into the types given, NULL where a value does not fit.

    >>> [whole] = cast([pa.array(["12", "12.0", "12.7", "x"])], [pa.int32()])
    >>> whole.to_pylist()
    [12, 12, None, None]
    """
    plain = [_decoded(column) for column in columns]
    found = [_by_arrow(column, target) for column, target in zip(plain, targets, strict=True)]
    left = {f"c{place}": place for place, column in enumerate(found) if column is None}
    if left:
        unit = pa.record_batch({name: plain[place] for name, place in left.items()})
        read = query(_statement(unit, [targets[place] for place in left.values()]), unit)
        for name, place in left.items():
            found[place] = read.column(name).cast(targets[place])
    return [column for column in found if column is not None]


def _decoded(column: Column) -> Column:
    """Unfold dictionaries, and bring all kinds of text into one."""
    unfolded = column.cast(column.type.value_type) if kinds.is_dictionary(column.type) else column
    return unfolded.cast(pa.string()) if _is_text(unfolded.type) else unfolded


def _statement(unit: pa.RecordBatch, targets: Sequence[pa.DataType]) -> str:
    columns = [
        f"{_expression(field.name, field.type, target)} AS {field.name}"
        for field, target in zip(unit.schema, targets, strict=True)
    ]
    return f"SELECT {', '.join(columns)} FROM unit"


def _expression(name: str, source: pa.DataType, target: pa.DataType) -> str:
    """Write the cast of one column in SQL."""
    tried = f"TRY_CAST({name} AS {'TIMESTAMPTZ' if target == TIMESTAMP else sql_name(target)})"
    if kinds.is_integer(target) and _is_fractional(source):
        return f"CASE WHEN {name} = trunc({name}) THEN {tried} END"
    if not _is_text(source) or not (kinds.is_integer(target) or kinds.is_floating(target)):
        return tried
    grammar = _WHOLE_NUMBER if kinds.is_integer(target) else _NUMBER
    return f"CASE WHEN regexp_full_match({name}, '{grammar}') THEN {tried} END"


def _by_arrow(column: Column, target: pa.DataType) -> "Column | None":
    """Cast without DuckDB where that gives the same, None where it might not."""
    if column.type == target:
        return column
    if _is_moment(column.type):
        return _moments(column).cast(target)
    if kinds.is_null(column.type):
        return column.cast(target)
    return _text_by_arrow(column, target) if _is_text(column.type) and _is_plain(column, target) else None


def _text_by_arrow(texts: Column, target: pa.DataType) -> "Column | None":
    """Let Arrow read texts, which it does for all of them or for none; a sample spares a long way to the latter."""
    for meant in (target, pa.timestamp("us", "UTC")) if target == TIMESTAMP else (target,):
        try:
            texts[:_SAMPLE].cast(meant)
            return texts.cast(meant).cast(target)
        except pa.ArrowInvalid:
            continue
    return None


def _is_plain(texts: Column, target: pa.DataType) -> bool:
    """Whether Arrow, should it read these texts, reads them as the rules above say.

    Arrow also takes '0x10' for a number, 'nan(7)' for one, and '2026-01-31 10' for a time.
    """
    bounds, data = unpacked(texts)
    if target == TIMESTAMP:
        filled = np.diff(bounds) > 0
        starts, ends = bounds[:-1][filled], bounds[1:][filled]
        return bool((ends - starts > _COLON_AT).all() and (data[starts + _COLON_AT] == ord(":")).all())
    if kinds.is_integer(target):
        return not (data | np.uint8(32) == ord("x")).any()
    return not (kinds.is_floating(target) and (data == ord("(")).any())


def _moments(column: Column) -> Column:
    """Turn times and dates of any unit into microseconds, UTC; what lies beyond them goes to their end."""
    kind = str(pa.timestamp(column.type.unit)) if kinds.is_timestamp(column.type) else str(column.type)
    ticks = column.cast(pa.int32() if kind == "date32[day]" else pa.int64()).fill_null(0)
    values = ticks.to_numpy(zero_copy_only=False).astype(np.int64)
    if kind == "timestamp[ns]":
        micros = values // 1_000
    else:
        factor = _MICROS_A_TICK.get(kind, 1)
        micros = np.clip(values, -_MOST // factor, _MOST // factor) * factor
    return pa.array(micros, TIMESTAMP, mask=column.is_null().to_numpy(zero_copy_only=False))


def _is_text(type_: pa.DataType) -> bool:
    return kinds.is_string(type_) or kinds.is_large_string(type_) or kinds.is_string_view(type_)


def _is_moment(type_: pa.DataType) -> bool:
    return kinds.is_timestamp(type_) or kinds.is_date(type_)


def _is_fractional(type_: pa.DataType) -> bool:
    return kinds.is_float32(type_) or kinds.is_float64(type_) or kinds.is_decimal128(type_)
