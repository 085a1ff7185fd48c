"""Expressions that fail on no reading, so that they may be computed apart from the predicate that they stand in.

DuckDB raises an error where a whole number overflows, a text is no number, a divisor is zero; but not if it has
rewritten the comparison around the expression. Only the whole predicate says whether it does.
"""

from collections.abc import Callable

import pyarrow as pa
from pyarrow import types as kinds
from sqlglot import exp

__all__ = ["cannot_fail"]

TypeOf = Callable[[exp.Expr], pa.DataType | None]

_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren, exp.Is)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In)
_OF_DOUBLES = (exp.Add, exp.Sub, exp.Mul, exp.Neg)
_CALLS_OF_DOUBLES = ("abs", "ceil", "ceiling", "floor")
_CALLS_OF_TEXTS = (
    *("upper", "ucase", "lower", "lcase", "length", "len"),
    *("contains", "prefix", "starts_with", "suffix", "ends_with"),
)
_PATTERNS = (exp.Like, exp.ILike)
_BY_NUMBER = (exp.Mod, exp.Div)
_KINDS = (kinds.is_string, kinds.is_boolean, kinds.is_timestamp)


def cannot_fail(tree: exp.Expr, type_of: TypeOf) -> bool:
    """Whether an expression over columns, of which ``type_of`` finds the types of parts, has a value on every reading.

    >>> import sqlglot
    >>> types = {"speed": pa.float64(), "flow": pa.int32(), "speed + flow": pa.float64(), "flow + flow": pa.int32()}
    >>> [cannot_fail(sqlglot.parse_one(text), lambda part: types.get(part.sql())) for text in list(types)[2:]]
    [True, False]
    """
    if isinstance(tree, exp.Column | exp.Literal | exp.Boolean | exp.Null):
        return True
    parts = [part for part in tree.iter_expressions() if not isinstance(part, exp.Identifier)]
    return _is_safe(tree, parts, type_of) and all(cannot_fail(part, type_of) for part in parts)


def _is_safe(tree: exp.Expr, parts: list[exp.Expr], type_of: TypeOf) -> bool:
    """Whether an operation cannot fail on any values of its parts."""
    if isinstance(tree, _LOGIC):
        return True
    if isinstance(tree, _COMPARISONS):
        return _are_alike([type_of(part) for part in parts if not isinstance(part, exp.Null)])
    called = tree.name.lower() if isinstance(tree, exp.Anonymous) else ""
    if isinstance(tree, _OF_DOUBLES) or called in _CALLS_OF_DOUBLES:
        found = type_of(tree)
        return found is not None and kinds.is_float64(found)
    if isinstance(tree, exp.StartsWith) or called in _CALLS_OF_TEXTS:
        return _are_texts(parts, type_of)
    if isinstance(tree, _PATTERNS):
        pattern = tree.expression
        is_plain = isinstance(pattern, exp.Literal) and pattern.is_string and "\\" not in pattern.name
        return is_plain and _are_texts(parts, type_of)
    return isinstance(tree, _BY_NUMBER) and _is_whole_by_number(tree, type_of)


def _is_whole_by_number(tree: exp.Expr, type_of: TypeOf) -> bool:
    """Whether a whole number is divided by a number that is written out, and not zero."""
    by, found = tree.expression, type_of(tree.this)
    is_number = isinstance(by, exp.Literal) and not by.is_string and by.name.isdigit() and int(by.name) > 0
    return is_number and found is not None and kinds.is_integer(found)


def _are_texts(parts: list[exp.Expr], type_of: TypeOf) -> bool:
    found = [type_of(part) for part in parts if not isinstance(part, exp.Boolean)]
    return all(type_ is not None and kinds.is_string(type_) for type_ in found)


def _are_alike(types: list[pa.DataType | None]) -> bool:
    """Whether values of these types are compared without a cast that may fail."""
    known = [type_ for type_ in types if type_ is not None]
    numeric = all(kinds.is_integer(type_) or kinds.is_floating(type_) or kinds.is_decimal(type_) for type_ in known)
    return len(known) == len(types) and (numeric or any(all(map(kind, known)) for kind in _KINDS))
