"""Linear expressions of one DOUBLE column in its own order: which values of the column an expression's bound means.

A sum with a number, and a product with a number above zero, never fall where the column rises, rounding included; and
NaN, the greatest, stays NaN. So where an expression reaches a constant is found exactly, by halving.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from skerry.index.domains import Domain, double_of_key, key_of_double
from skerry.index.value_sets import Cut

__all__ = ["Step", "domain_of_linear"]


class Step(NamedTuple):
    """One operation on what the steps before have come to: + or - or * with a number."""

    sign: str
    number: float

    def apply(self, value: float) -> float:
        """The next value, as DuckDB computes it."""
        if self.sign == "*":
            return value * self.number
        return value + self.number if self.sign == "+" else value - self.number


def domain_of_linear(steps: Sequence[Step], doubles: Domain) -> Domain | None:
    """The order of an expression's values by the keys of the column; None if they may fall.

    >>> from skerry.index.domains import domain_of
    >>> import pyarrow as pa
    >>> kmh = domain_of_linear([Step("*", 3.6)], domain_of(pa.float64()))
    >>> low, high = kmh.cuts(36.0)
    >>> key_of_double(9.999999) < low <= key_of_double(10.0) < high < key_of_double(10.000001)
    True
    """
    if any(step.number <= 0.0 for step in steps if step.sign == "*"):
        return None
    least, end = doubles.low, doubles.high
    assert isinstance(least, int)
    assert isinstance(end, int)

    def key_at(key: int) -> int:
        value = double_of_key(key)
        for step in steps:
            value = step.apply(value)
        return key_of_double(value)

    def reaches(cut: Cut, key: int) -> bool:
        assert isinstance(cut, int)
        return key_at(key) >= cut

    def cuts(constant: object) -> tuple[Cut, Cut] | None:
        found = doubles.cuts(constant)
        if found is None:
            return None
        guess = min(max(key_of_double(_invert(steps, constant)), least), end)
        low, high = (_find_first(partial(reaches, cut), guess, least, end) for cut in found)
        return low, high

    return Domain(least, end, cuts)


def _invert(steps: Sequence[Step], constant: object) -> float:
    """About where an expression reaches a constant."""
    value = constant if isinstance(constant, float) else 0.0
    for sign, number in reversed(steps):
        value = value / number if sign == "*" else value - number if sign == "+" else value + number
    return value


def _find_first(holds: Callable[[int], bool], guess: int, low: int, high: int) -> int:
    """The first key from which on something holds, or ``high``: in ever longer steps from a guess, then by halving."""
    step = 1
    if guess < high and not holds(guess):
        low = guess + 1
        while low < high and not holds(min(low + step, high - 1)):
            low, step = min(low + step, high - 1) + 1, 2 * step
        high = min(low + step, high)
    else:
        high = guess
        while low < high and holds(max(high - step, low)):
            high, step = max(high - step, low), 2 * step
        low = max(high - step, low)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
