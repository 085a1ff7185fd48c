"""Which expressions are so simple that Arrow decides them as DuckDB would."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import duckdb
import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

from skerry.model.dialect import write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.predicate import All, Compared, Holds, Missing, Negated, Predicate, Some
from skerry.model.types import TIMESTAMP

__all__ = ["simple"]

_LARGEST = 100
"""Trees with more nodes than this are left to DuckDB, which stops early where many conditions are joined."""

_SIGNS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NEQ: "<>",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


class _Other(Exception):
    """Part of an expression is not simple."""


def simple(tree: exp.Expr, schema: pa.Schema) -> Predicate | None:
    """Read an expression over bound columns as a predicate; None where Arrow might not give what DuckDB gives.

    Simple are whole numbers, DOUBLE and TIMESTAMP beside constants, IN, BETWEEN and IS NULL, and what AND, OR
    and NOT make of them. Constants are computed, and brought to the column's type, by DuckDB.

    >>> import sqlglot
    >>> schema = pa.schema({"speed": pa.float64()})
    >>> simple(sqlglot.parse_one('"speed" < 30'), schema)
    Compared(column='speed', sign='<', constant=<pyarrow.DoubleScalar: 30.0>)
    >>> simple(sqlglot.parse_one('"speed" * 2 < 30'), schema)
    """
    if sum(1 for _ in tree.walk()) > _LARGEST:
        return None
    try:
        return _read(tree, schema)
    except _Other:
        return None


def _read(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    bare = tree.unnest()
    for kind, read in _READERS.items():
        if type(bare) is kind:
            return read(bare, schema)
    raise _Other


def _comparison(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    left, right, sign = tree.this.unnest(), tree.expression.unnest(), _SIGNS[type(tree)]
    if isinstance(left, exp.Column):
        return _compare(left, sign, right, schema)
    return _compare(right, _TURNED[sign], left, schema)


def _between(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    ends = {">=": tree.args["low"], "<=": tree.args["high"]}
    if tree.args.get("symmetric"):
        raise _Other
    return All(tuple(_compare(tree.this, sign, end, schema) for sign, end in ends.items()))


def _among(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    if not tree.expressions or any(part for name, part in tree.args.items() if name not in ("this", "expressions")):
        raise _Other
    return Some(tuple(_compare(tree.this, "=", constant, schema) for constant in tree.expressions))


def _missing(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    if not isinstance(tree.expression, exp.Null):
        raise _Other
    return Missing(_column(tree.this, schema).name)


def _holds(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    field = _column(tree, schema)
    if field.type != pa.bool_():
        raise _Other
    return Holds(field.name)


def _negate(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    return Negated(_read(tree.this, schema))


def _all(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    return All(tuple(_read(part, schema) for part in tree.flatten()))


def _some(tree: exp.Expr, schema: pa.Schema) -> Predicate:
    return Some(tuple(_read(part, schema) for part in tree.flatten()))


_READERS: Mapping[type[exp.Expr], Callable[[exp.Expr, pa.Schema], Predicate]] = {
    **dict.fromkeys(_SIGNS, _comparison),
    exp.And: _all,
    exp.Between: _between,
    exp.Column: _holds,
    exp.In: _among,
    exp.Is: _missing,
    exp.Not: _negate,
    exp.Or: _some,
}


def _column(tree: exp.Expr, schema: pa.Schema) -> "pa.Field[pa.DataType]":
    bare = tree.unnest()
    if not isinstance(bare, exp.Column):
        raise _Other
    return schema.field(bare.name)


def _compare(column: exp.Expr, sign: str, constant: exp.Expr, schema: pa.Schema) -> Predicate:
    field = _column(column, schema)
    return Compared(field.name, sign, _constant(constant, field.type))


def _constant(tree: exp.Expr, type_: pa.DataType) -> "pa.Scalar[pa.DataType]":
    """Have a constant computed, as a value of the type that the comparison is made in."""
    if tree.find(exp.Column):
        raise _Other
    found = _compute(write_expression(tree))
    if not _comparable(type_, found.type):
        raise _Other
    if type_ == pa.float64():
        found = _compute(f"CAST({write_expression(tree)} AS DOUBLE)")
    value = found.as_py()
    if value is None or value != value:
        raise _Other
    try:
        return found.cast(type_)
    except pa.ArrowInvalid:  # a whole number beyond the column's type, which DuckDB would widen
        raise _Other from None


@lru_cache(maxsize=4096)
def _compute(sql: str) -> "pa.Scalar[pa.DataType]":
    try:
        return open_duckdb().sql(f"SELECT {sql}").to_arrow_table().column(0)[0]
    except duckdb.Error:
        raise _Other from None


def _comparable(column: pa.DataType, constant: pa.DataType) -> bool:
    """Whether DuckDB compares the two in the column's type, or as whole numbers."""
    whole = kinds.is_signed_integer(constant)
    if kinds.is_signed_integer(column):
        return whole
    if column == pa.float64():
        return whole or kinds.is_decimal(constant) or kinds.is_floating(constant)
    return column == constant == TIMESTAMP
