"""Parses the fields of facts files, by the type of their column."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from skerry.deduce.json_values import parse_json
from skerry.deduce.values import coerce
from skerry.model.term import Value
from skerry.plan.program import Type

__all__ = ["EXPECTED", "BadField", "is_bare", "read_column"]

EXPECTED: Mapping[Type, str] = {
    Type.INT: "a whole number of 64 bits",
    Type.FLOAT: "a number",
    Type.STRING: "text",
    Type.BOOL: "true or false",
    Type.TIME: "a time",
    Type.POINT: "a point as in [1.5, 2]",
    Type.NODE: "a whole number or text",
    Type.LIST: 'a list as in [1, "a"]',
    Type.ANY: "a value",
}

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadField(ValueError):
    """A field that cannot be read. Arguments: its row, its text."""


def is_bare(texts: "pa.ChunkedArray[Any]") -> bool:
    """Whether times are written as whole numbers, not as timestamps. One that is neither is refused when it is read."""
    try:
        texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return not any(":" in text or "-" in text[1:] for text in texts.to_pylist())
    return True


def read_column(texts: "pa.ChunkedArray[Any]", kind: Type, unit: int) -> list[Value]:
    """The values of a column. Raises BadCell for the first that is none.

    >>> read_column(pa.chunked_array([["1", "-2"]]), Type.FLOAT, 1)
    [1.0, -2.0]
    """
    fast = _by_arrow(texts, kind, unit)
    return _one_by_one(texts, kind, unit) if fast is None else fast.to_pylist()


def _by_arrow(texts: "pa.ChunkedArray[Any]", kind: Type, unit: int) -> "pa.ChunkedArray[Any] | None":
    """A column at once, where Arrow reads each field as ``_one_by_one`` does; None where it might not."""
    try:
        match kind:
            case Type.STRING:
                return texts
            case Type.INT | Type.NODE | Type.ANY:
                return texts.cast(pa.int64())
            case Type.TIME:
                moments = texts.cast(pa.int64() if unit == 1 else pa.timestamp("us"))
                return moments.cast(pa.int64())
            case Type.FLOAT:
                numbers = pc.add(texts.cast(pa.float64()), 0.0)
                return None if pc.any(pc.is_nan(numbers)).as_py() else numbers
    except pa.ArrowInvalid:
        return None
    return None


def _one_by_one(texts: "pa.ChunkedArray[Any]", kind: Type, unit: int) -> list[Value]:
    reader, values = _reader(kind, unit), []
    for row, text in enumerate(texts.to_pylist()):
        try:
            values.append(reader(text))
        except (ValueError, OverflowError):
            raise BadField(row, text) from None
    return values


def _reader(kind: Type, unit: int) -> Callable[[str], Value]:
    readers: Mapping[Type, Callable[[str], Value]] = {
        Type.INT: _whole,
        Type.FLOAT: _number,
        Type.STRING: str,
        Type.BOOL: _truth,
        Type.TIME: _whole if unit == 1 else _moment,
        Type.POINT: lambda text: _parse_nested(text, Type.POINT),
        Type.NODE: lambda text: _whole(text) if _WHOLE.fullmatch(text) else text,
        Type.LIST: lambda text: _parse_nested(text, Type.LIST),
        Type.ANY: _any,
    }
    return readers[kind]


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text.strip()):
        raise ValueError(text)
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(text)
    return number


def _number(text: str) -> float:
    number = float(text) + 0.0
    if math.isnan(number) or "_" in text:
        raise ValueError(text)
    return number


def _truth(text: str) -> bool:
    match text.strip().lower():
        case "true" | "1":
            return True
        case "false" | "0":
            return False
    raise ValueError(text)


def _moment(text: str) -> int:
    """Microseconds since 1970; a time without an offset is in UTC."""
    moment = datetime.fromisoformat(text.strip())
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _parse_nested(text: str, kind: Type) -> Value:
    value = coerce(parse_json(text), kind)
    if value is None:
        raise ValueError(text)
    return value


def _any(text: str) -> Value:
    for reader in (_whole, _number):
        try:
            return reader(text)
        except ValueError:
            continue
    return text
