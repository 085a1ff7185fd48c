"""Values: when two are equal, which comes first, what arithmetic makes of them, and how a column takes them in.

Python holds ``1 == 1.0 == True``; here these are three values. ``key`` tells them apart wherever rows are put into
sets and dictionaries, ``sort_key`` sorts values of all kinds.
"""

import math
from typing import TypeGuard

from skerry.model.term import Compound, Value
from skerry.plan.program import Type

__all__ = ["Row", "calculate", "coerce", "compare", "depth", "key", "kind", "row_key", "sort_key"]

Row = tuple[Value, ...]

Key = object
"""What a value is compared by in sets and dictionaries."""

_LEAST, _MOST = -(2**63), 2**63 - 1


def key(value: Value) -> Key:
    """Something hashable that is equal for equal values alone.

    >>> 1 == 1.0, key(1) == key(1.0), key((1, True)) == key((1, 1))
    (True, False, False)
    """
    match value:
        case bool() | float():
            return type(value), value
        case tuple():
            return tuple(map(key, value))
        case Compound(name, arguments):
            return Compound, name, tuple(map(key, arguments))
    return value


def kind(value: Value) -> Type:
    """The type of a value.

    >>> kind(True), kind((1, 2))
    (<Type.BOOL: 'bool'>, <Type.LIST: 'list'>)
    """
    match value:
        case bool():
            return Type.BOOL
        case int():
            return Type.INT
        case float():
            return Type.FLOAT
        case str():
            return Type.STRING
        case tuple():
            return Type.LIST
        case Compound():
            return Type.ANY


def row_key(row: Row) -> tuple[Key, ...]:
    """The keys of a row's values.

    >>> row_key((1, "a"))
    (1, 'a')
    """
    return tuple(map(key, row))


def sort_key(value: Value) -> tuple[object, ...]:
    """Sort by kind (bool, numbers, string, list, function symbol), then by value.

    >>> sorted(["b", 2.5, (1,), 2, True, "a", ()], key=sort_key)
    [True, 2, 2.5, 'a', 'b', (), (1,)]
    """
    match value:
        case bool():
            return 0, value
        case int() | float():
            return 1, value, isinstance(value, float)
        case str():
            return 2, value
        case tuple():
            return 3, tuple(map(sort_key, value))
    return 4, value.name, tuple(map(sort_key, value.arguments))


def depth(value: Value) -> int:
    """How many lists and function symbols stand inside one another.

    >>> depth(7), depth((1, (2,)))
    (0, 2)
    """
    match value:
        case tuple():
            return 1 + max(map(depth, value), default=0)
        case Compound(_, arguments):
            return 1 + max(map(depth, arguments), default=0)
    return 0


def coerce(value: Value, kind: Type) -> Value | None:
    """Bring a value to a column's type; None if it does not fit.

    >>> coerce(1, Type.FLOAT), coerce(1, Type.STRING), coerce((1, 2), Type.POINT)
    (1.0, None, (1.0, 2.0))
    """
    match kind:
        case Type.INT | Type.TIME:
            return value if isinstance(value, int) and not isinstance(value, bool) else None
        case Type.FLOAT:
            return float(value) + 0.0 if _is_number(value) and not math.isnan(value) else None
        case Type.STRING:
            return value if isinstance(value, str) else None
        case Type.BOOL:
            return value if isinstance(value, bool) else None
        case Type.NODE:
            return value if isinstance(value, int | str) and not isinstance(value, bool) else None
        case Type.LIST:
            return value if isinstance(value, tuple) else None
        case Type.POINT:
            return _point(value)
    return value


def _point(value: Value) -> Value | None:
    if not isinstance(value, tuple) or len(value) != 2:
        return None
    first, second = (coerce(each, Type.FLOAT) for each in value)
    return None if first is None or second is None else (first, second)


def compare(operator: str, left: Value, right: Value) -> bool:
    """Compare two values: numbers by what they count, others within their kind; order across kinds is false.

    >>> compare("=", 1, 1.0), compare("<", 1, "a"), compare("!=", 1, "a"), compare("<", (1, 2), (1, 3))
    (True, False, True, True)
    """
    first, second = _comparable(left), _comparable(right)
    match operator:
        case "=":
            return first == second
        case "!=":
            return first != second
    if first[0] != second[0]:
        return False
    match operator:
        case "<":
            return first < second
        case "<=":
            return first <= second
        case ">":
            return first > second
    return first >= second


def _comparable(value: Value) -> tuple[object, ...]:
    """Sort keys in which a whole number equals the same number as a float."""
    match value:
        case bool():
            return 0, value
        case int() | float():
            return 1, value
        case str():
            return 2, value
        case tuple():
            return 3, tuple(map(_comparable, value))
    return 4, value.name, tuple(map(_comparable, value.arguments))


def calculate(operator: str, left: Value, right: Value) -> Value | None:
    """Calculate with two numbers, or join two texts; None where that means nothing. OverflowError beyond 64 bits.

    >>> calculate("+", 1, 2), calculate("/", 1, 2), calculate("//", -7, 2), calculate("%", 1, 0)
    (3, 0.5, -4, None)
    >>> calculate("+", "a", "b"), calculate("+", "a", 1)
    ('ab', None)
    """
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if not _is_number(left) or not _is_number(right):
        return None
    try:
        result = _apply_operator(operator, left, right)
    except ZeroDivisionError:
        return None
    if isinstance(result, float):
        return None if math.isnan(result) else result + 0.0
    if not _LEAST <= result <= _MOST:
        raise OverflowError(f"{left} {operator} {right} does not fit into 64 bits")
    return result


def _apply_operator(operator: str, left: int | float, right: int | float) -> int | float:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return left // right
    return left % right


def _is_number(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
