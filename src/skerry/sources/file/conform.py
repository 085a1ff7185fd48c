r"""What was stored and what was declared: rows that fit, and for each other row the reason why not.

Columns of any type are cast to the declared types. A value that does not fit becomes NULL, and nothing is guessed.

A text is a whole number if it is digits with a sign at most, and perhaps a fraction of zeros ('12.0', not
'12.7'); a number may have a fraction and an exponent, or be 'nan' or 'inf'; a time is what DuckDB reads as
TIMESTAMPTZ: a date, or a date and a time with or without an offset, without one in UTC. Spaces around
numbers and times do not matter. A span is an INTERVAL of Parquet, or a duration of Arrow.

All that needs a look at each value goes through DuckDB in one statement. Texts that Arrow's own cast
reads, and reads in the same way, are left to it, which is faster.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import types as kinds

from skerry.model.duckdb_session import query_batch
from skerry.model.time import Micros
from skerry.model.types import TIMESTAMP, TIMESTAMPTZ, is_json, name_column_type, sql_name

__all__ = [
    "EARLIEST",
    "LATEST",
    "Column",
    "Conformed",
    "Rows",
    "can_cast",
    "cast",
    "conform",
    "show_values",
    "unpack_texts",
]

Column: TypeAlias = "pa.Array[Any]"
Rows: TypeAlias = NDArray[np.intp]
_Fault: TypeAlias = tuple[Rows, list[str]]

EARLIEST = Micros(-2_208_988_800_000_000)
"""The first moment of 1900."""

LATEST = Micros(9_246_182_400_000_000 - 1)
"""The last moment of 2262. What lies outside is a broken clock, or a stand-in for 'never'."""

_SHOWN_CHARACTERS = 80

_WHOLE_NUMBER = r"\s*[+-]?[0-9]+(\.0*)?\s*"
_NUMBER = r"\s*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))\s*"

_SINCE_1970 = re.compile(r"column [^']*: '\s*([0-9]+)(\.[0-9]+)?\s*' is not TIMESTAMP")
_UNIT_OF_DIGITS = {10: "s", 13: "ms", 16: "us", 19: "ns"}
_DECIMAL_COMMA = re.compile(r"column [^']*: '\s*[+-]?\d*,\d+\s*' is not .*")

_TIMES = (TIMESTAMP, TIMESTAMPTZ)
_BY_ARROW = (*_TIMES, pa.bool_(), pa.string())
"""Types, beside numbers, as which Arrow reads texts."""

_MICROS_PER_UNIT: Mapping[str, int] = {
    "timestamp[s]": 10**6,
    "timestamp[ms]": 10**3,
    "date32[day]": 86_400 * 10**6,
    "date64[ms]": 10**3,
}
_MOST = 2**63 - 1
_SAMPLE = 100
"""So many texts are tried first: a cast that fails takes Arrow far longer than one that does not."""

_PACKED_SPAN, _SPAN = pa.binary(12), pa.month_day_nano_interval()
"""An INTERVAL as Parquet stores it, which Arrow does not know, and as Arrow has it."""
_PARTS = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])

_COLON_AT = 13
"""Where the colon stands in '2026-01-31 00:00'. Times that have it there Arrow reads as DuckDB does, or not at all."""


@dataclass(frozen=True)
class Conformed:
    """Readings with the declared schema, the rows that gave none, and for each of these the reason."""

    readings: pa.RecordBatch
    misfits: Rows
    reasons: list[str]


def conform(stored: pa.RecordBatch, schema: pa.Schema, event_time: str | None) -> Conformed:
    """Bring stored columns, in the declared order, to the declared types.

    A row is a misfit if a value that is there cannot be read as its column's type, if a time is out of
    range, or if its event time is missing; the reason names the first column that is wrong.

    >>> stored = pa.record_batch({"ts": ["2026-01-01T00:00:00+02:00", None], "speed": ["61.5", "abc"]})
    >>> found = conform(stored, pa.schema({"ts": TIMESTAMP, "speed": pa.float64()}), "ts")
    >>> found.readings.to_pylist()
    [{'ts': datetime.datetime(2025, 12, 31, 22, 0), 'speed': 61.5}]
    >>> found.misfits.tolist(), found.reasons
    ([1], ['ts is missing'])
    """
    columns = cast(stored.columns, schema.types)
    columns = [_keep_json(column) if is_json(field) else column for field, column in zip(schema, columns, strict=True)]
    readings = pa.RecordBatch.from_arrays(columns, schema=schema)
    triples = zip(schema, stored.columns, columns, strict=True)
    faults = [fault for triple in triples for fault in _find_faults(*triple, required=triple[0].name == event_time)]
    if not faults:
        return Conformed(readings, np.zeros(0, np.intp), [])
    misfits, first = np.unique(np.concatenate([rows for rows, _ in faults]), return_index=True)
    fits = np.ones(readings.num_rows, np.bool_)
    fits[misfits] = False
    reasons = [reason for _, because in faults for reason in because]
    return Conformed(readings.filter(pa.array(fits)), misfits, [reasons[index] for index in first])


def _find_faults(field: "pa.Field[pa.DataType]", stored: Column, read: Column, required: bool) -> Iterator[_Fault]:
    """Find the rows in which a column is wrong; a glance at counts and extremes is enough where none is."""
    if required and stored.null_count:
        yield _explain(stored, _find_rows(stored.is_null()), f"{field.name} is missing")
    if read.null_count > stored.null_count:
        lost = _find_rows(pc.and_(read.is_null(), stored.is_valid()))
        lost_rows, reasons = _explain(stored, lost, f"column {field.name}: '", f"' is not {name_column_type(field)}")
        if required and field.type in _TIMES:
            reasons = [_add_unit(reason) for reason in reasons]
        elif pa.types.is_floating(field.type) or pa.types.is_decimal(field.type):
            reasons = [_add_comma(reason) for reason in reasons]
        yield lost_rows, reasons
    if field.type in _TIMES and _reaches_beyond(read):
        read = read.cast(TIMESTAMP)
        beyond = _find_rows(pc.or_(pc.less(read, _to_scalar(EARLIEST)), pc.greater(read, _to_scalar(LATEST))))
        yield _explain(stored, beyond, f"column {field.name}: '", "' is out of range, 1900 to 2262")


def _reaches_beyond(times: Column) -> bool:
    ends = pc.min_max(times.cast(pa.int64()))
    return bool(ends["min"].is_valid and (ends["min"].as_py() < EARLIEST or ends["max"].as_py() > LATEST))


def _explain(stored: Column, rows: Rows, before: str, after: str | None = None) -> _Fault:
    """Give each row its reason, with the stored value in it where there is more to say after it."""
    if after is None:
        return rows, [before] * rows.size
    texts = show_values(stored.take(rows))
    return rows, [f"{before}{str(text)[:_SHOWN_CHARACTERS]}{after}" for text in texts]


def _add_unit(reason: str) -> str:
    """Say how a number is taken for a time, if it may count since 1970: by its length, that of today's.

    >>> _add_unit("column ts: '1777622400000' is not TIMESTAMP")
    "column ts: '1777622400000' is not TIMESTAMP; if it counts since 1970, set event_time_unit='ms'"
    """
    number = _SINCE_1970.fullmatch(reason)
    unit = _UNIT_OF_DIGITS.get(len(number[1])) if number else None
    return f"{reason}; if it counts since 1970, set event_time_unit='{unit}'" if unit else reason


def _add_comma(reason: str) -> str:
    """Say how a number with a decimal comma is read.

    >>> _add_comma("column speed: '18,4' is not DOUBLE")
    "column speed: '18,4' is not DOUBLE; skerry sensors discover FILE proposes how to read a decimal comma"
    """
    is_comma = _DECIMAL_COMMA.fullmatch(reason)
    return f"{reason}; skerry sensors discover FILE proposes how to read a decimal comma" if is_comma else reason


def show_values(column: Column) -> list[str | None]:
    """Values as texts, for dead letters.

    >>> show_values(pa.array([[1, 2], None]))
    ['[1, 2]', None]
    """
    if kinds.is_nested(column.type) or kinds.is_interval(column.type):
        return [None if value is None else str(value) for value in column.to_pylist()]
    texts: list[str | None] = column.cast(pa.string()).to_pylist()
    return texts


def _keep_json(texts: Column) -> Column:
    """Texts that are JSON; NULL for others."""
    unit = pa.record_batch({"c": texts})
    return query_batch("SELECT CASE WHEN json_valid(c) THEN c END AS c FROM unit", unit).column(0)


def _find_rows(marks: Column) -> Rows:
    found: Rows = np.flatnonzero(marks.fill_null(False).to_numpy(zero_copy_only=False))
    return found


def _to_scalar(micros: Micros) -> "pa.Scalar[pa.DataType]":
    return pa.scalar(micros, TIMESTAMP)


def can_cast(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of one type can be read as another at all.

    >>> can_cast(pa.string(), TIMESTAMP), can_cast(pa.int64(), TIMESTAMP)
    (True, False)
    """
    if kinds.is_dictionary(source):
        return can_cast(source.value_type, target)
    if source == target or _is_text(source) or kinds.is_null(source):
        return True
    if kinds.is_list(target):
        is_list = kinds.is_list(source) or kinds.is_large_list(source) or kinds.is_fixed_size_list(source)
        return is_list and can_cast(source.value_type, target.value_type)
    is_text = target == pa.string()
    if _is_moment(source):
        return is_text or target in _TIMES or kinds.is_date32(target)
    if kinds.is_duration(source) or source == _PACKED_SPAN:
        return target == _SPAN
    if kinds.is_time(source):
        return is_text or kinds.is_time(target)
    exact = kinds.is_integer(source) or kinds.is_boolean(source)
    if exact and kinds.is_boolean(target):
        return True
    return (exact or _is_fractional(source)) and (is_text or kinds.is_integer(target) or _is_fractional(target))


def cast(columns: Sequence[Column], targets: Sequence[pa.DataType]) -> list[Column]:
    """Turn columns into the types given, NULL where a value does not fit.

    >>> [whole] = cast([pa.array(["12", "12.0", "12.7", "x"])], [pa.int32()])
    >>> whole.to_pylist()
    [12, 12, None, None]
    """
    plain = [_unfold(column) for column in columns]
    found = [_cast_by_arrow(column, target) for column, target in zip(plain, targets, strict=True)]
    left = {f"c{index}": index for index, column in enumerate(found) if column is None}
    if left:
        unit = pa.record_batch({name: plain[index] for name, index in left.items()})
        read = query_batch(_statement(unit, [targets[index] for index in left.values()]), unit)
        for name, index in left.items():
            found[index] = read.column(name).cast(targets[index])
    return [column for column in found if column is not None]


def _unfold(column: Column) -> Column:
    """Unfold dictionaries and packed spans, and bring all kinds of text into one."""
    unfolded = column.cast(column.type.value_type) if kinds.is_dictionary(column.type) else _unpack_spans(column)
    return unfolded.cast(pa.string()) if _is_text(unfolded.type) else unfolded


def _unpack_spans(column: Column) -> Column:
    """Spans of months, days and milliseconds in twelve bytes, and lists of such, as Arrow has them.

    >>> _unpack_spans(pa.array([bytes([2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]), None], pa.binary(12))).to_pylist()
    [MonthDayNano(months=2, days=3, nanoseconds=4000000), None]
    """
    if kinds.is_list(column.type):
        parts = column.flatten()
        unpacked = _unpack_spans(parts)
        if unpacked is parts:
            return column
        ends = np.cumsum(pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False))
        return pa.ListArray.from_arrays(np.append(0, ends).astype(np.int32), unpacked, mask=column.is_null())
    if column.type != _PACKED_SPAN:
        return column
    packed = column.buffers()[1]
    stored = np.frombuffer(packed, "<u4").reshape(-1, 3)[column.offset : column.offset + len(column)]
    spans = np.zeros(len(column), _PARTS)
    spans["months"], spans["days"] = stored[:, 0], stored[:, 1]
    spans["nanoseconds"] = stored[:, 2].astype(np.int64) * 1_000_000
    values = pa.Array.from_buffers(_SPAN, len(column), [None, pa.py_buffer(spans)])
    return pc.if_else(column.is_valid(), values, pa.scalar(None, _SPAN))


def _statement(unit: pa.RecordBatch, targets: Sequence[pa.DataType]) -> str:
    columns = [
        f"{_expression(field.name, field.type, target)} AS {field.name}"
        for field, target in zip(unit.schema, targets, strict=True)
    ]
    return f"SELECT {', '.join(columns)} FROM unit"


def _expression(name: str, source: pa.DataType, target: pa.DataType) -> str:
    """Write the cast of one column in SQL."""
    tried = f"TRY_CAST({name} AS {'TIMESTAMPTZ' if target == TIMESTAMP else sql_name(target)})"
    if kinds.is_list(target) and _is_text(source):  # as JSON, which has escapes, or else as DuckDB writes lists
        as_json, plain = (f"TRY(CAST({each} AS {sql_name(target)}))" for each in (f"TRY_CAST({name} AS JSON)", name))
        return f"coalesce({as_json}, {plain})"
    if kinds.is_integer(target) and _is_fractional(source):
        return f"CASE WHEN {name} = trunc({name}) THEN {tried} END"
    if not _is_text(source) or not (kinds.is_integer(target) or kinds.is_floating(target)):
        return tried
    grammar = _WHOLE_NUMBER if kinds.is_integer(target) else _NUMBER
    return f"CASE WHEN regexp_full_match({name}, '{grammar}') THEN {tried} END"


def _cast_by_arrow(column: Column, target: pa.DataType) -> "Column | None":
    """Cast without DuckDB where that gives the same, None where it might not."""
    if column.type == target:
        return column
    if _is_moment(column.type):
        return _to_micros(column).cast(target)
    if kinds.is_null(column.type):
        return column.cast(target)
    is_simple = target in _BY_ARROW or kinds.is_integer(target) or kinds.is_floating(target)
    is_read = is_simple and _is_text(column.type) and _is_plain(column, target)
    return _cast_text_by_arrow(column, target) if is_read else None


def _cast_text_by_arrow(texts: Column, target: pa.DataType) -> "Column | None":
    """Let Arrow read texts, which it does for all of them or for none; a sample spares a long way to the latter."""
    for meant in _TIMES if target in _TIMES else (target,):
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
    bounds, data = unpack_texts(texts)
    if target in _TIMES:
        filled = np.diff(bounds) > 0
        starts, ends = bounds[:-1][filled], bounds[1:][filled]
        return bool((ends - starts > _COLON_AT).all() and (data[starts + _COLON_AT] == ord(":")).all())
    if kinds.is_integer(target):
        return not (data | np.uint8(32) == ord("x")).any()
    return not (kinds.is_floating(target) and (data == ord("(")).any())


def _to_micros(column: Column) -> Column:
    """Turn times and dates of any unit into microseconds, UTC; what lies beyond them goes to their end."""
    kind = str(pa.timestamp(column.type.unit)) if kinds.is_timestamp(column.type) else str(column.type)
    counts = column.cast(pa.int32() if kind == "date32[day]" else pa.int64()).fill_null(0)
    values = counts.to_numpy(zero_copy_only=False).astype(np.int64)
    if kind == "timestamp[ns]":
        micros = values // 1_000
    else:
        factor = _MICROS_PER_UNIT.get(kind, 1)
        micros = np.clip(values, -_MOST // factor, _MOST // factor) * factor
    return pa.array(micros, TIMESTAMP, mask=column.is_null().to_numpy(zero_copy_only=False))


def _is_text(type_: pa.DataType) -> bool:
    return kinds.is_string(type_) or kinds.is_large_string(type_) or kinds.is_string_view(type_)


def _is_moment(type_: pa.DataType) -> bool:
    return kinds.is_timestamp(type_) or kinds.is_date(type_)


def _is_fractional(type_: pa.DataType) -> bool:
    return kinds.is_float32(type_) or kinds.is_float64(type_) or kinds.is_decimal128(type_)


def unpack_texts(text: "pa.Array[Any]") -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """See texts as their bytes, one behind the other, and where each starts in them; last of all, where they end.

    >>> bounds, data = unpack_texts(pa.array(["ab", "c"])[1:])
    >>> bounds.tolist(), bytes(data)
    ([0, 1], b'c')
    """
    _, bounds_buffer, data = text.buffers()
    if not len(text) or bounds_buffer is None or data is None:
        return np.zeros(len(text) + 1, np.int32), np.zeros(0, np.uint8)
    bounds = np.frombuffer(memoryview(bounds_buffer), np.int32)[text.offset : text.offset + len(text) + 1]
    return bounds - bounds[0], np.frombuffer(memoryview(data), np.uint8)[bounds[0] : bounds[-1]]
