"""The least and the greatest by sorting, NaN behind every number."""

import math
from collections.abc import Iterable


def _order(value: float) -> tuple[bool, float]:
    return (True, 0.0) if math.isnan(value) else (False, value)


def least(values: Iterable[float]) -> float | None:
    """The first in order, or None if there is none."""
    return min(values, key=_order, default=None)


def greatest(values: Iterable[float]) -> float | None:
    """The last in order, or None if there is none."""
    return max(values, key=_order, default=None)
