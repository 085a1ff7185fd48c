"""Aggregates as partial states: what a mote makes of a value, how two states become one, and the answer.

Madden, Franklin, Hellerstein, Hong: TAG: a tiny aggregation service for ad-hoc sensor networks, 2002.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skerry.errors import InputError
from skerry.network.aggregation.exact_sum import add_exactly, round_sum
from skerry.network.message import count_bytes

__all__ = ["EXACT", "Aggregate", "find_aggregate"]

State = Any
Number = int | float


@dataclass(frozen=True)
class Aggregate:
    """An aggregate function in parts. States are plain values, so that they travel in messages.

    ``start`` is given a value, the mote that it is of and the epoch.

    >>> average = find_aggregate("avg")
    >>> states = [average.start(value, mote, 0) for mote, value in enumerate((1, 2, 6))]
    >>> average.finish(average.merge(average.merge(states[0], states[1]), states[2]))
    3.0
    """

    name: str
    start: Callable[[Number, int, int], State]
    merge: Callable[[State, State], State]
    finish: Callable[[State], Number]
    count_bytes: Callable[[State], int] = count_bytes


def _start_sum(value: Number, mote: int, epoch: int) -> State:
    """Whole numbers and doubles are added apart, both exactly."""
    return (value, ()) if isinstance(value, int) else (0, add_exactly((), (value,)))


def _merge_sums(one: State, other: State) -> State:
    return one[0] + other[0], add_exactly(one[1], other[1])


def _finish_sum(state: State) -> Number:
    whole, parts = state
    return round_sum((*parts, float(whole))) if parts else whole


def _merge_averages(one: State, other: State) -> State:
    return _merge_sums(one[0], other[0]), one[1] + other[1]


_ALL = (
    Aggregate("avg", lambda *of: (_start_sum(*of), 1), _merge_averages, lambda state: _finish_sum(state[0]) / state[1]),
    Aggregate("count", lambda value, mote, epoch: 1, lambda one, other: one + other, lambda state: state),
    Aggregate("max", lambda value, mote, epoch: value, max, lambda state: state),
    Aggregate("min", lambda value, mote, epoch: value, min, lambda state: state),
    Aggregate("sum", _start_sum, _merge_sums, _finish_sum),
)
EXACT = {aggregate.name: aggregate for aggregate in _ALL}
"""The aggregates of a tree, by name."""


def find_aggregate(name: str) -> Aggregate:
    """The exact aggregate of a name."""
    if name not in EXACT:
        raise InputError(f"unknown aggregate {name!r}; known: {', '.join(EXACT)}")
    return EXACT[name]
