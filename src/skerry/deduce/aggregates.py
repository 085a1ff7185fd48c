"""Aggregates of rules, over one group's contributions. A contribution is a distinct binding of the rule's body."""

import math
from collections.abc import Sequence

from skerry.deduce.values import key, sort_key
from skerry.model.term import Value

__all__ = ["NUMERIC", "aggregate_values"]

NUMERIC = ("sum", "avg", "var")
"""These take numbers alone."""


def aggregate_values(function: str, values: Sequence[Value]) -> Value:
    """Aggregate the values of a group, of which there is at least one.

    >>> aggregate_values("sum", [1, 2, 2]), aggregate_values("collect", [3, 1, 3])
    (5, (1, 3))
    >>> aggregate_values("count_distinct", [1, 2, 2])
    2
    """
    match function:
        case "count":
            return len(values)
        case "count_distinct":
            return len(set(map(key, values)))
        case "min":
            return min(values, key=sort_key)
        case "max":
            return max(values, key=sort_key)
        case "collect":
            return tuple(sorted({key(value): value for value in values}.values(), key=sort_key))
    return _aggregate_numbers(function, [value for value in values if isinstance(value, int | float)])


def _aggregate_numbers(function: str, numbers: Sequence[int | float]) -> Value:
    if function == "sum":
        whole = all(isinstance(number, int) for number in numbers)
        return _check_fits(sum(numbers)) if whole else _sum(numbers)
    mean = _sum(numbers) / len(numbers)
    return mean if function == "avg" else _sum([(number - mean) ** 2 for number in numbers]) / len(numbers)


def _sum(numbers: Sequence[int | float]) -> float:
    """Exactly rounded; what passes the greatest float is infinite."""
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf if sum(number / 2**64 for number in numbers) > 0 else -math.inf


def _check_fits(total: int | float) -> int | float:
    if not -(2**63) <= total < 2**63:
        raise OverflowError(f"the sum {total} does not fit into 64 bits")
    return total
