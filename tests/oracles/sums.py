"""Sums and deviations in fractions: nothing is rounded before the end."""

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction


def total(values: Iterable[float]) -> float:
    """The sum, rounded once; NaN if there is one among them, or infinities of both signs."""
    values = list(values)
    special = {value for value in values if not math.isfinite(value)}
    if not special:
        return nearest(exact(values))
    return special.pop() if len(special) == 1 else math.nan


def exact(values: Iterable[float]) -> Fraction:
    """The sum of finite values, not rounded."""
    return sum((Fraction(value) for value in values), Fraction(0))


def nearest(value: Fraction) -> float:
    """The nearest double, ties to even."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def deviation(values: Sequence[float], lost: int) -> float:
    """The standard deviation; ``lost`` is 1 for that of a sample, else 0."""
    mean = exact(values) / len(values)
    variance = sum(((Fraction(value) - mean) ** 2 for value in values), Fraction(0)) / (len(values) - lost)
    with localcontext(prec=60):
        return float((Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt())
