"""Constants of predicates, as values of the type in which DuckDB compares them with a column."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import TypeAlias

import duckdb
import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

from skerry.index.domains import Moment
from skerry.model.dialect import write_expression
from skerry.model.types import TIMESTAMP

__all__ = ["Evaluator", "NotIndexable", "evaluate_constants", "evaluate_literals", "is_double"]

Evaluator: TypeAlias = Callable[[], duckdb.DuckDBPyConnection]
"""Gives this thread's DuckDB, which decides what boxes cannot."""
ToSql: TypeAlias = Callable[[], str]
"""Writes an expression."""

_DIGITS = 18
"""A decimal of so many digits is 64 bits in DuckDB, and compared with every whole number as a decimal, exactly."""
_LARGEST = 10**38
"""A whole number below it is still one of 128 bits."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")


class NotIndexable(Exception):
    """A part of a predicate that no box can express: it is left to DuckDB."""


def evaluate_constants(trees: Sequence[exp.Expr], type_: pa.DataType, evaluator: Evaluator) -> list[object]:
    """What expressions without columns come to beside a column of a type; None for NULL.

    DuckDB compares a column with several constants in one type: doubles make doubles of all others.
    """
    found = [_evaluate(tree, type_, evaluator) for tree in trees]
    _check_doubles(found, type_)
    return [
        _cast_for_column(value, partial(write_expression, tree), type_, evaluator)
        for value, tree in zip(found, trees, strict=True)
    ]


def evaluate_literals(texts: Sequence[str], type_: pa.DataType, evaluator: Evaluator) -> list[object]:
    """The same of numbers without a sign and of quoted texts, as they are written.

    >>> evaluate_literals(["30", "4.5"], pa.float64(), duckdb.connect)
    [30.0, 4.5]
    """
    if kinds.is_float64(type_):
        return [_read_double(text, evaluator) for text in texts]
    if kinds.is_string(type_) and all(text[0] == "'" for text in texts):
        return [_read_text(text) for text in texts]
    found = [_read_text(text) if text[0] == "'" else _parse_number(text) for text in texts]
    if NotIndexable in found:
        raise NotIndexable
    _check_doubles(found, type_)
    return [
        _cast_for_column(value, partial(str, text), type_, evaluator) for value, text in zip(found, texts, strict=True)
    ]


def is_double(number: str) -> bool:
    """Whether a number, as it is written, is the same double to DuckDB as it is here: the nearest.

    Whole numbers of 128 bits come to one in two steps.

    >>> [is_double(number) for number in ("3.14159265358979323846", "5e-05", "170141183460469231731687303715884105727")]
    [True, True, False]
    """
    return len(number) <= _DIGITS or "." in number or "e" in number.lower()


def _read_double(text: str, evaluator: Evaluator) -> object:
    """A number beside a DOUBLE. A text is not compared here."""
    if text[0] == "'":
        raise NotIndexable
    if is_double(text):
        return float(text)
    value = _parse_number(text)
    return _cast_for_column(value, partial(str, text), pa.float64(), evaluator)


def _read_text(quoted: str) -> str:
    return quoted[1:-1].replace("''", "'")


def _check_doubles(values: Sequence[object], type_: pa.DataType) -> None:
    doubles = {isinstance(value, float) for value in values if value is not None}
    if len(doubles) > 1 and not kinds.is_float64(type_):
        raise NotIndexable


def _evaluate(tree: exp.Expr, type_: pa.DataType, evaluator: Evaluator) -> object:
    found = _read_literal(tree.unnest())
    return _compute(tree.unnest(), type_, evaluator) if found is NotIndexable else found


def _cast_for_column(value: object, sql: ToSql, type_: pa.DataType, evaluator: Evaluator) -> object:
    """A value in the type in which it is compared."""
    if type_ == TIMESTAMP and isinstance(value, str):
        return _parse_moment(value, sql, evaluator)
    if kinds.is_floating(type_) and type(value) in (int, Decimal):
        return _to_double(value, sql, type_, evaluator)
    if _is_long(value):
        raise NotIndexable
    return value


def _is_long(value: object) -> bool:
    """Whether a number has so many digits that DuckDB may compare it in another type."""
    if type(value) is int:
        return not -_LARGEST < value < _LARGEST
    digits = value if isinstance(value, Decimal) else Decimal()
    return len(digits.as_tuple().digits) > _DIGITS


def _read_literal(tree: exp.Expr) -> object:
    """A constant that needs no computing, or ``NotIndexable`` itself."""
    if isinstance(tree, exp.Null):
        return None
    if isinstance(tree, exp.Boolean):
        return bool(tree.this)
    if isinstance(tree, exp.Neg):
        inner = _read_literal(tree.this.unnest())
        return -inner if isinstance(inner, int | float | Decimal) and not isinstance(inner, bool) else NotIndexable
    if not isinstance(tree, exp.Literal):
        return NotIndexable
    return str(tree.this) if tree.is_string else _parse_number(str(tree.this))


def _parse_number(text: str) -> object:
    """A number as DuckDB reads it: whole, decimal, or double where it has an exponent."""
    try:
        if "e" in text.lower():
            return float(text)
        if "." not in text:
            return int(text)
        return Decimal(text)
    except (ValueError, ArithmeticError):
        return NotIndexable


def _to_double(value: object, sql: ToSql, type_: pa.DataType, evaluator: Evaluator) -> float:
    """The nearest double, as DuckDB finds it too; it is asked where a number is long, and for FLOAT."""
    if kinds.is_float64(type_) and not _is_long(value):
        return float(str(value))
    name = "DOUBLE" if kinds.is_float64(type_) else "FLOAT"
    found = _ask_duckdb(f"CAST({sql()} AS {name})", evaluator).as_py()
    if not isinstance(found, float):
        raise NotIndexable
    return found


def _parse_moment(text: str, sql: ToSql, evaluator: Evaluator) -> Moment:
    if _MOMENT.fullmatch(text):
        try:
            since = datetime.fromisoformat(text).replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            return Moment((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)
        except ValueError:
            pass
    return _to_moment(_ask_duckdb(f"CAST({sql()} AS TIMESTAMP)", evaluator))


def _to_moment(scalar: "pa.Scalar[pa.DataType]") -> Moment:
    try:
        return Moment(scalar.cast(TIMESTAMP).value)
    except (pa.ArrowInvalid, TypeError):
        raise NotIndexable from None


def _compute(tree: exp.Expr, type_: pa.DataType, evaluator: Evaluator) -> object:
    """What DuckDB makes of a constant expression, if keys exist for its type."""
    if tree.find(exp.Column, exp.Query):
        raise NotIndexable
    if type_ == TIMESTAMP and _is_moment(tree):
        return str(tree.this.this)
    found = _ask_duckdb(write_expression(tree), evaluator)
    if not found.is_valid:
        return None
    if found.type == TIMESTAMP or kinds.is_date32(found.type):
        return _to_moment(found)
    narrow = kinds.is_float32(found.type) and not kinds.is_floating(type_)
    known = (kinds.is_integer, kinds.is_decimal, kinds.is_floating, kinds.is_string, kinds.is_boolean)
    if narrow or not any(kind(found.type) for kind in known):
        raise NotIndexable
    return found.as_py()


def _is_moment(tree: exp.Expr) -> bool:
    """Whether it is TIMESTAMP 'text', the text in full."""
    return (
        isinstance(tree, exp.Cast)
        and tree.to.this in (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ)
        and isinstance(tree.this, exp.Literal)
        and _MOMENT.fullmatch(str(tree.this.this)) is not None
    )


def _ask_duckdb(sql: str, evaluator: Evaluator) -> "pa.Scalar[pa.DataType]":
    try:
        return evaluator().sql(f"SELECT {sql}").to_arrow_table().column(0)[0]
    except duckdb.Error:
        raise NotIndexable from None
