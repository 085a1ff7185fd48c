"""Aggregates that do not mind duplicates: merging a state with itself changes nothing.

A count or a sum is estimated from minima. A value v draws, for each of K registers, an exponential number of rate v,
always the same for the same mote and epoch. The minimum over all motes is exponential with the sum of the rates, so the
sum is near (K - 1) / (the sum of the K minima), with a standard error of 1 / sqrt(K - 2). Registers are kept as
logarithms in one byte.

Nath, Gibbons, Seshan, Anderson: Synopsis diffusion for robust aggregation in sensor networks, 2004. Cohen:
Size-estimation framework with applications to transitive closure and reachability, 1997.
"""

from math import floor, log, sqrt
from random import Random

from skerry.errors import InputError
from skerry.network.aggregation.aggregates import EXACT, Aggregate

__all__ = ["make_synopsis", "standard_error"]

_BASE = 1.1
_LOWEST = -64
"""The exponent of level 0: registers hold minima from 1.1 ** 64 down to 1.1 ** -191, sums from 0.002 to 10 ** 7."""

_Levels = tuple[int, ...]


def standard_error(registers: int) -> float:
    """The relative standard error of a count or sum.

    >>> round(standard_error(64), 3)
    0.127
    """
    return 1.0 / sqrt(registers - 2)


def make_synopsis(name: str, registers: int = 64) -> Aggregate:
    """The aggregate of a name for rings: ``min`` and ``max`` are exact, ``count``, ``sum`` and ``avg`` estimates.

    >>> count = make_synopsis("count")
    >>> state = count.start(17, 0, 0)
    >>> for mote in range(1, 200):
    ...     state = count.merge(state, count.start(17, mote, 0))
    >>> count.merge(state, state) == state, 140 < count.finish(state) < 260, count.count_bytes(state)
    (True, True, 64)
    """
    if registers < 3:
        raise InputError(f"a synopsis has 3 registers or more; got {registers}")
    if name in ("min", "max"):
        return EXACT[name]
    if name == "count":
        return Aggregate(name, lambda _, mote, epoch: _draw(1, mote, epoch, registers), _merge, _estimate, len)
    if name == "sum":
        return Aggregate(name, lambda value, mote, epoch: _draw(value, mote, epoch, registers), _merge, _estimate, len)
    if name == "avg":
        return _make_average(registers)
    raise InputError(f"unknown aggregate {name!r}; known: {', '.join(EXACT)}")


def _make_average(registers: int) -> Aggregate:
    """A sum and a count, from the same draws: their errors partly cancel."""
    return Aggregate(
        "avg",
        lambda value, mote, epoch: (_draw(value, mote, epoch, registers), _draw(1, mote, epoch, registers)),
        lambda one, other: (_merge(one[0], other[0]), _merge(one[1], other[1])),
        lambda state: _estimate(state[0]) / _estimate(state[1]),
        lambda state: 2 * registers,
    )


def _draw(value: float, mote: int, epoch: int, registers: int) -> _Levels:
    """The levels of one value. Higher levels are smaller numbers; those of 0 are nowhere the minimum."""
    if value < 0:
        raise InputError(f"a sum over rings takes numbers from 0 on; got {value}")
    if value == 0:
        return (0,) * registers
    random = Random(f"{mote} {epoch}")
    return tuple(_find_level(random.expovariate(1.0) / value) for _ in range(registers))


def _find_level(number: float) -> int:
    return min(max(floor(-log(number, _BASE)) - _LOWEST, 1), 255) if number > 0.0 else 255


def _merge(one: _Levels, other: _Levels) -> _Levels:
    return tuple(map(max, one, other))


def _estimate(levels: _Levels) -> float:
    """Registers at the middle of their level."""
    if not any(levels):
        return 0.0
    return (len(levels) - 1) / sum(_BASE ** -(level + _LOWEST + 0.5) for level in levels)
