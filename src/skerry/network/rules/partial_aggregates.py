"""Partial aggregates of rules: as few values as give the same aggregate, however the rest is added later."""

from collections.abc import Iterable
from typing import Any

from skerry.deduce.values import key, sort_key
from skerry.model.term import Value
from skerry.network.rules.packing import pack, unpack

__all__ = ["Counted", "list_values", "merge", "read_counted", "write_counted"]

Counted = tuple[tuple[Value, int], ...]
"""Values, and how often each is there."""

_MOST_EXACT = 2**53
"""Up to this, whole numbers are doubles too."""


def merge(function: str, parts: Iterable[Counted]) -> Counted:
    """Values that aggregate to what all parts together do, and go on to do so when more is added.

    Sums and means of whole numbers are one or two numbers, of others the distinct values; so is a variance.

    >>> merge("count", [((5, 2),), ((7, 1),)]), merge("max", [((5, 2),), ((7, 1),)])
    (((1, 3),), ((7, 1),))
    >>> merge("sum", [((5, 2),), ((7, 1),)]), merge("avg", [((5, 2),), ((7, 1),)])
    (((17, 1),), ((5, 1), (6, 2)))
    """
    counted = _count(parts)
    if not counted or function == "var":
        return counted
    match function:
        case "count":
            return ((1, sum(count for _, count in counted)),)
        case "min":
            return ((counted[0][0], 1),)
        case "max":
            return ((counted[-1][0], 1),)
        case "count_distinct" | "collect":
            return tuple((value, 1) for value, _ in counted)
    total = _add_whole(counted)
    if total is None:
        return counted
    return ((total, 1),) if function == "sum" else _spread(total, sum(count for _, count in counted))


def list_values(counted: Counted) -> list[Value]:
    """Each value as often as it is there."""
    return [value for value, count in counted for _ in range(count)]


def write_counted(counted: Counted) -> tuple[Any, ...]:
    """As plain data, for a message."""
    return (pack(tuple(value for value, _ in counted)), tuple(count for _, count in counted))


def read_counted(plain: tuple[Any, ...]) -> Counted:
    """From plain data."""
    values, counts = plain
    return tuple(zip(unpack(values), counts, strict=True))


def _count(parts: Iterable[Counted]) -> Counted:
    """Equal values together, in order."""
    counts: dict[object, tuple[Value, int]] = {}
    for part in parts:
        for value, count in part:
            before = counts.get(key(value), (value, 0))
            counts[key(value)] = before[0], before[1] + count
    return tuple(sorted(counts.values(), key=lambda each: sort_key(each[0])))


def _add_whole(counted: Counted) -> int | None:
    """The sum, if all values are whole and doubles hold it."""
    total = 0
    for value, count in counted:
        if type(value) is not int:
            return None
        total += value * count
    return total if abs(total) < _MOST_EXACT else None


def _spread(total: int, count: int) -> Counted:
    """So many whole numbers with this sum."""
    least, more = divmod(total, count)
    return tuple(pair for pair in ((least, count - more), (least + 1, more)) if pair[1])
