"""Ranges of numbers as a sensor is told them: few intervals, both ends in, never narrower than what is wanted."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
from pyarrow import types as kinds

from skerry.index.domains import domain_of, double_of_key, key_of_double
from skerry.index.value_sets import Span
from skerry.sensors.messages import Ranges

__all__ = ["MOST_INTERVALS", "limit_spans", "to_ranges"]

MOST_INTERVALS = 8
"""How many intervals of a column a sensor is told: it compares each reading with all of them."""

_EXACT = 2**53
_INFINITY = key_of_double(math.inf)
_LARGEST = float(np.finfo(np.float64).max)


def limit_spans(spans: Sequence[Span], type_: pa.DataType, most: int = MOST_INTERVALS) -> tuple[Span, ...]:
    """At most so many spans: those with the least between them are joined.

    >>> limit_spans([(0, 2), (3, 4), (9, 10)], pa.int32(), most=2)
    ((0, 4), (9, 10))
    """
    if len(spans) <= most:
        return tuple(spans)
    ends = [(_to_number(low, type_), _to_number(high - 1, type_)) for low, high in spans]
    gaps = np.array([after[0] - before[1] for before, after in pairwise(ends)])
    kept = np.sort(np.argsort(gaps, kind="stable")[len(gaps) - (most - 1) :])
    starts, stops = [0, *(kept + 1)], [*kept, len(spans) - 1]
    return tuple((spans[start][0], spans[stop][1]) for start, stop in zip(starts, stops, strict=True))


def to_ranges(spans: Sequence[Span], type_: pa.DataType) -> Ranges:
    """Spans of keys as intervals of numbers. What is no number (NaN, NULL) is in none, and every sensor sends it.

    >>> to_ranges([(-2147483648, 30), (40, 42)], pa.int32())
    ((None, 29.0), (40.0, 41.0))
    """
    domain = domain_of(type_)
    assert domain is not None
    if kinds.is_integer(type_):
        return tuple(
            (None if low == domain.low else _below(low), None if high == domain.high else _above(high - 1))
            for low, high in spans
        )
    ends = [(low, high - 1) for low, high in spans if low <= _INFINITY]
    found = [
        (None if low == domain.low else double_of_key(low), None if high >= _INFINITY else double_of_key(high))
        for low, high in ends
    ]
    return tuple(_widen(interval, single=kinds.is_float32(type_)) for interval in found)


def _to_number(key: int, type_: pa.DataType) -> float:
    """About where a key lies; within finite numbers, so that distances can be compared."""
    if kinds.is_integer(type_):
        return float(key)
    return min(max(double_of_key(min(key, _INFINITY)), -_LARGEST / 4), _LARGEST / 4)


def _below(number: int) -> float:
    return float(number) if abs(number) <= _EXACT else math.nextafter(float(number), -math.inf)


def _above(number: int) -> float:
    return float(number) if abs(number) <= _EXACT else math.nextafter(float(number), math.inf)


def _widen(interval: tuple[float | None, float | None], *, single: bool) -> tuple[float | None, float | None]:
    """Ends that JSON can write. What becomes a FLOAT on arrival is rounded then, so ends are one FLOAT further out."""
    low, high = interval
    if single:
        low, high = _next_single(low, -math.inf), _next_single(high, math.inf)
    low = None if low is None or low == -math.inf else min(low, _LARGEST)
    high = None if high is None or high == math.inf else max(high, -_LARGEST)
    return low, high


def _next_single(end: float | None, towards: float) -> float | None:
    if end is None:
        return None
    largest = float(np.finfo(np.float32).max)
    with np.errstate(over="ignore"):
        return float(np.nextafter(np.float32(min(max(end, -largest), largest)), np.float32(towards)))
