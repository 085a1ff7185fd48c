"""Values as the formats of files have them: each by its own word, or by its text where the format has no word.

Times are written ``2026-01-01 00:00:00.000000``, spans ``25:00:00.000000``, with months in front where there are any,
bytes as DuckDB reads them. In JSON ``"NaN"`` and ``"Infinity"`` are texts, and the keys of maps are names. In csv
nested values are JSON. Parquet has spans of a fixed length alone: a month has thirty days there.
"""

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["to_csv", "to_json", "to_parquet", "to_text"]


def to_parquet(column: pa.Array) -> pa.Array:
    """Parquet has spans of a fixed length alone."""
    wanted = _without_months(column.type)
    return column if wanted == column.type else pa.array([_fix_spans(value) for value in column.to_pylist()], wanted)


def _without_months(type_: pa.DataType) -> pa.DataType:
    """A type with spans of a fixed length in place of all others."""
    if pa.types.is_interval(type_):
        return pa.duration("us")
    if pa.types.is_struct(type_):
        return pa.struct([field.with_type(_without_months(field.type)) for field in type_])
    if pa.types.is_map(type_):
        return pa.map_(_without_months(type_.key_type), _without_months(type_.item_type))
    if pa.types.is_fixed_size_list(type_):
        return pa.list_(_without_months(type_.value_type), type_.list_size)
    return pa.list_(_without_months(type_.value_type)) if pa.types.is_list(type_) else type_


def _fix_spans(value: object) -> object:
    if isinstance(value, pa.MonthDayNano):
        return _to_fixed_span(value)
    if isinstance(value, dict):
        return {name: _fix_spans(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(_fix_spans(part) for part in value)
    return [_fix_spans(part) for part in value] if isinstance(value, list) else value


def to_csv(column: pa.Array) -> pa.Array:
    """Nested values are JSON."""
    if pa.types.is_nested(column.type):
        values = column.to_pylist(maps_as_pydicts="lossy")
        texts = [None if value is None else json.dumps(to_json(value), ensure_ascii=False) for value in values]
        return pa.array(texts, pa.string())
    return to_text(column)


def to_text(column: pa.Array) -> pa.Array:
    """Times with all six digits, spans and bytes as texts; all other columns as they are."""
    if pa.types.is_timestamp(column.type):
        return pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    if any(is_kind(column.type) for is_kind in _SPELLED):
        return pa.array([to_json(value) for value in column.to_pylist()], pa.string())
    return column


_SPELLED = (pa.types.is_interval, pa.types.is_duration, pa.types.is_binary, pa.types.is_large_binary)
"""Types that neither csv nor JSON has a word for."""


def to_json(value: object) -> object:
    """A value as JSON knows it: a whole decimal is a number, what JSON has no word for is its text."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {_to_key(name): to_json(part) for name, part in value.items()}
    if isinstance(value, list):
        return [to_json(part) for part in value]
    if isinstance(value, Decimal) and value.as_tuple().exponent == 0:
        return int(value)
    spell = next((spell for kind, spell in _SPELLINGS.items() if isinstance(value, kind)), str)
    return spell(value)


def _to_key(name: object) -> str:
    """The name of a member; the key of a map may be of any type."""
    return name if isinstance(name, str) else str(to_json(name))


def _spell_double(value: float) -> object:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _spell_moment(moment: datetime) -> str:
    utc = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return utc.isoformat(" ", "microseconds")


def _spell_bytes(value: bytes) -> str:
    r"""Spell bytes as DuckDB reads them, those that are no plain character by their number.

    >>> _spell_bytes(b"a\x00")
    'a\\x00'
    """
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02X}" for byte in value)


def _spell_interval(span: pa.MonthDayNano) -> str:
    """Spell a span as SQL reads it: months by themselves, since they have no fixed length.

    >>> _spell_interval(pa.MonthDayNano([13, 1, 0])), _spell_interval(pa.MonthDayNano([0, 1, 0]))
    ('13 months 24:00:00.000000', '24:00:00.000000')
    """
    months = f"{span.months} months " if span.months else ""
    return months + _spell_span(timedelta(days=span.days, microseconds=span.nanoseconds // 1000))


def _to_fixed_span(span: timedelta | pa.MonthDayNano) -> timedelta:
    """A span of fixed length; a month has thirty days here."""
    if isinstance(span, timedelta):
        return span
    return timedelta(days=30 * span.months + span.days, microseconds=span.nanoseconds // 1000)


def _spell_span(span: timedelta) -> str:
    """Spell a span as SQL reads it, in hours however many.

    >>> _spell_span(timedelta(days=1, hours=1)), _spell_span(timedelta(seconds=-1.5))
    ('25:00:00.000000', '-00:00:01.500000')
    """
    seconds, micros = divmod(abs(span) // timedelta(microseconds=1), 1_000_000)
    sign = "-" if span < timedelta() else ""
    return f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micros:06d}"


_SPELLINGS: Mapping[type, Callable[[Any], object]] = {
    float: _spell_double,
    datetime: _spell_moment,
    time: lambda value: value.isoformat("microseconds"),
    bytes: _spell_bytes,
    pa.MonthDayNano: _spell_interval,
    timedelta: _spell_span,
}
"""How values are written that JSON has no word for, or not for all of them."""
