"""Sums of doubles without rounding: as few doubles as hold the sum exactly, so the order of addition does not matter.

Shewchuk: Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997, "grow expansion".
"""

from math import fsum, isfinite

from skerry.errors import InputError

__all__ = ["Expansion", "add_exactly", "round_sum"]

Expansion = tuple[float, ...]


def add_exactly(one: Expansion, other: Expansion) -> Expansion:
    """The sum of two expansions, as one without zeros.

    >>> add_exactly((1e16,), (1.0,)), add_exactly((1.0, 1e16), (-1e16,))
    ((1.0, 1e+16), (1.0,))
    """
    found = list(one)
    for value in other:
        found = _grow(found, value)
    return tuple(found)


def _grow(expansion: list[float], value: float) -> list[float]:
    """One double more: what does not fit into the larger of two is kept beside it."""
    if not isfinite(value):
        raise InputError(f"a sum over the network takes finite numbers; got {value}")
    grown: list[float] = []
    for part in expansion:
        total = value + part
        if not isfinite(total):
            raise InputError(f"a sum over the network is beyond what a double holds: {value} and {part}")
        small, large = (value, part) if abs(value) < abs(part) else (part, value)
        rest = small - (total - large)
        if rest:
            grown.append(rest)
        value = total
    return [*grown, value] if value else grown


def round_sum(expansion: Expansion) -> float:
    """The double nearest to the sum."""
    return fsum(expansion)
