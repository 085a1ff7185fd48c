"""Arithmetic and comparisons on whole columns; values of mixed kinds are taken one by one, each pair once."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skerry.deduce.engine.encoding import Encoding, Kind, Vector, both, distinct, kind_of
from skerry.deduce.values import calculate, compare
from skerry.errors import RuleLimit
from skerry.kernels.rules.checked_arithmetic import SIGNS, exact
from skerry.model.arrays import Bools, Int64s
from skerry.plan.program import Type

__all__ = ["calculate_columns", "compare_columns"]

_EXACT = 2**53
"""Whole numbers up to here are floats too."""
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBERS = (Kind.INT, Kind.FLOAT)


def calculate_columns(encoding: Encoding, sign: str, left: Vector, right: Vector) -> Vector:
    """``left sign right``, not valid where that has no meaning; whole numbers beyond 64 bits stop the program."""
    left, right = encoding.as_numbers(left), encoding.as_numbers(right)
    kinds = kind_of(left.type), kind_of(right.type)
    valid = both(left.valid, right.valid)
    if kinds == (Kind.INT, Kind.INT):
        if sign in SIGNS:
            return Vector(_exact(sign, left.codes, right.codes, valid), Type.INT, valid)
        if sign in ("//", "%"):
            return _divide_floored(sign, left.codes, right.codes, valid)
    if kinds[0] in _NUMBERS and kinds[1] in _NUMBERS and _all_exact(left) and _all_exact(right):
        return _in_floats(sign, _floats(left), _floats(right), valid)
    return _calculate_one_by_one(encoding, sign, left, right, valid)


def compare_columns(encoding: Encoding, sign: str, left: Vector, right: Vector) -> Bools:
    """Where ``left sign right`` holds; nowhere without a value."""
    if Kind.NUMBERED in (kind_of(left.type), kind_of(right.type)) and not _only_strings(sign, left, right):
        left, right = _rank_strings(encoding, encoding.as_numbers(left), encoding.as_numbers(right))
    kinds = kind_of(left.type), kind_of(right.type)
    if kinds[0] is kinds[1] and (kinds[0] in (Kind.INT, Kind.BOOL) or _only_strings(sign, left, right)):
        holds: Bools = _COMPARISONS[sign](left.codes, right.codes)
    elif kinds[0] in _NUMBERS and kinds[1] in _NUMBERS and (kinds[0] is kinds[1] or _all_exact(left, right)):
        holds = _COMPARISONS[sign](_floats(left), _floats(right))
    else:
        holds = _compare_one_by_one(encoding, sign, left, right)
    valid = both(left.valid, right.valid)
    return holds if valid is None else holds & valid


def _only_strings(sign: str, left: Vector, right: Vector) -> bool:
    return sign in ("=", "!=") and left.type is right.type is Type.STRING


def _rank_strings(encoding: Encoding, left: Vector, right: Vector) -> tuple[Vector, Vector]:
    """Where all values are strings: their ranks in the alphabet; else what was given."""
    if kind_of(left.type) is not Kind.NUMBERED or kind_of(right.type) is not Kind.NUMBERED:
        return left, right
    different, which = np.unique(np.concatenate([left.codes, right.codes]), return_inverse=True)
    values = encoding.decode(different, Type.ANY)
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) < len(values):
        return left, right
    ranks = np.empty(len(texts), np.int64)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    split = np.split(ranks[which], [left.codes.size])
    return Vector(split[0], Type.INT, left.valid), Vector(split[1], Type.INT, right.valid)


def _floats(vector: Vector) -> np.ndarray[Any, np.dtype[np.float64]]:
    if kind_of(vector.type) is Kind.FLOAT:
        return np.ascontiguousarray(vector.codes).view(np.float64)
    return vector.codes.astype(np.float64)


def _all_exact(*vectors: Vector) -> bool:
    """Whether all whole numbers here are floats too."""
    whole = [vector.codes for vector in vectors if kind_of(vector.type) is Kind.INT]
    return all(bool(((each <= _EXACT) & (each >= -_EXACT)).all()) for each in whole)


def _exact(sign: str, left: Int64s, right: Int64s, valid: Bools | None) -> Int64s:
    results, wrong = exact(sign, left, right)
    if wrong is not None and (wrong if valid is None else wrong & valid).any():
        row = int(np.flatnonzero(wrong if valid is None else wrong & valid)[0])
        raise RuleLimit(f"{left[row]} {sign} {right[row]} does not fit into 64 bits")
    return results


def _divide_floored(sign: str, left: Int64s, right: Int64s, valid: Bools | None) -> Vector:
    defined = right != 0
    divisor = np.where(defined, right, 1)
    least = (left == -(2**63)) & (divisor == -1)
    if sign == "//" and (least if valid is None else least & valid).any():
        raise RuleLimit(f"{-(2**63)} // -1 does not fit into 64 bits")
    divisor = np.where(least, 1, divisor)
    return Vector(left // divisor if sign == "//" else left % divisor, Type.INT, both(valid, defined))


def _in_floats(sign: str, left: Any, right: Any, valid: Bools | None) -> Vector:
    with np.errstate(all="ignore"):
        match sign:
            case "+":
                result = left + right
            case "-":
                result = left - right
            case "*":
                result = left * right
            case _:
                zero = right == 0
                valid = both(valid, ~zero)
                right = np.where(zero, 1.0, right)
                result = left / right if sign == "/" else left // right if sign == "//" else left % right
    defined = ~np.isnan(result)
    return Vector((result + 0.0).view(np.int64), Type.FLOAT, both(valid, None if defined.all() else defined))


def _calculate_one_by_one(encoding: Encoding, sign: str, left: Vector, right: Vector, valid: Bools | None) -> Vector:
    rows = np.arange(left.codes.size) if valid is None else np.flatnonzero(valid)
    result, defined = np.zeros(left.codes.size, np.int64), np.zeros(left.codes.size, np.bool_)
    if not rows.size:
        return Vector(result, Type.ANY, defined)
    firsts, which = distinct([left.codes[rows], right.codes[rows]])
    pairs = zip(
        encoding.decode(left.codes[rows][firsts], left.type),
        encoding.decode(right.codes[rows][firsts], right.type),
        strict=True,
    )
    try:
        found = encoding.encode([calculate(sign, *pair) for pair in pairs], Type.ANY)
    except OverflowError as error:
        raise RuleLimit(str(error)) from None
    result[rows] = found.codes[which]
    defined[rows] = True if found.valid is None else found.valid[which]
    return Vector(result, Type.ANY, defined)


def _compare_one_by_one(encoding: Encoding, sign: str, left: Vector, right: Vector) -> Bools:
    valid = both(left.valid, right.valid)
    rows = np.arange(left.codes.size) if valid is None else np.flatnonzero(valid)
    holds = np.zeros(left.codes.size, np.bool_)
    if rows.size:
        firsts, which = distinct([left.codes[rows], right.codes[rows]])
        lefts = encoding.decode(left.codes[rows][firsts], left.type)
        rights = encoding.decode(right.codes[rows][firsts], right.type)
        answers = [compare(sign, first, second) for first, second in zip(lefts, rights, strict=True)]
        holds[rows] = np.array(answers, np.bool_)[which]
    return holds
