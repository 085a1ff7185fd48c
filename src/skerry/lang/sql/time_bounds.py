"""How far apart the times of joined streams may be: from their windows, and from conditions that compare times.

    b.ts BETWEEN a.ts - INTERVAL '5' MINUTE AND a.ts       0 <= a.ts - b.ts <= 5 MINUTE
    b.ts < a.ts + INTERVAL '10' SECOND                     b.ts - a.ts < 10 SECOND

Each bound says: one time is later than another by so much at the most. Bounds add up along a chain of streams, so that
one that is not written may follow from others.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from math import inf

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.create_source import interval
from skerry.model.time import LAST_MOMENT, MICROS

__all__ = ["TimeBounds", "bounds_of"]

Bound = tuple[int, int, float]
"""A stream, another, and by how much the other's time may be later."""
_Linear = tuple[Mapping[int, int], int]
"""How often each stream's time is counted, and what is added."""
_DIFFERENCES = ("date_diff", "datediff", "date_sub", "datesub")
FindTime = Callable[[exp.Column], "int | None"]
"""The stream whose time a column is."""


class TimeBounds:
    """By how much the time of one stream may be later than that of another, as far as something is said of it."""

    def __init__(self, streams: Collection[int], bounds: Iterable[Bound]) -> None:
        known = {(one, other): 0.0 if one == other else inf for one in streams for other in streams}
        for one, other, most in bounds:
            if (one, other) in known:
                known[one, other] = min(known[one, other], most)
        self._bounds = _add_up(known, streams)
        if any(self._bounds[each, each] < 0 for each in streams):
            # Some contradict each other. A row may be given without those that they are about, and wait for others.
            self._bounds = _add_up({pair: max(most, 0.0) for pair, most in known.items()}, streams)

    def wait(self, one: int, others: Collection[int]) -> float:
        """How long a reading of one stream may wait for those of others; infinite if nothing says."""
        return max(0.0, *(self._bounds[one, other] for other in others if other != one))

    def after(self, one: int, other: int) -> float:
        """By how much the other may be later than one."""
        return max(0.0, self._bounds[one, other])


def _add_up(bounds: Mapping[tuple[int, int], float], streams: Collection[int]) -> dict[tuple[int, int], float]:
    """The least bounds that follow from some, along all chains of streams."""
    found = dict(bounds)
    for between in streams:
        for one in streams:
            for other in streams:
                along = found[one, between] + found[between, other]
                found[one, other] = min(found[one, other], along)
    return found


def bounds_of(part: exp.Expr, find_time: FindTime) -> list[Bound]:
    """What a condition says about times of two streams; nothing, if it is about something else."""
    return [(one, other, min(most, LAST_MOMENT)) for one, other, most in _read(part, find_time)]


def _read(part: exp.Expr, find_time: FindTime) -> Iterator[Bound]:
    yield from _read_difference(part, find_time)
    if isinstance(part, exp.Between):
        yield from _compare(part.args["low"], part.this, 0, find_time)
        yield from _compare(part.this, part.args["high"], 0, find_time)
    elif isinstance(part, exp.LTE | exp.LT):
        yield from _compare(part.left, part.right, isinstance(part, exp.LT), find_time)
    elif isinstance(part, exp.GTE | exp.GT):
        yield from _compare(part.right, part.left, isinstance(part, exp.GT), find_time)
    elif isinstance(part, exp.EQ):
        yield from _compare(part.left, part.right, 0, find_time)
        yield from _compare(part.right, part.left, 0, find_time)


def _read_difference(part: exp.Expr, find_time: FindTime) -> Iterator[Bound]:
    """What ``date_diff('second', a.ts, b.ts) <= 60`` says: it counts boundaries between, so up to a unit less."""
    if isinstance(part, exp.Between):
        yield from _read_difference(exp.GTE(this=part.this, expression=part.args["low"]), find_time)
        yield from _read_difference(exp.LTE(this=part.this, expression=part.args["high"]), find_time)
        return
    if not isinstance(part, exp.LT | exp.LTE | exp.GT | exp.GTE | exp.EQ):
        return
    call, number = part.left.unnest(), _read_number(part.right)
    if number is None or not isinstance(call, exp.Anonymous) or call.name.lower() not in _DIFFERENCES:
        return
    unit_us = MICROS.get(call.expressions[0].name.upper().removesuffix("S")) if call.expressions else None
    streams = [find_time(each) if isinstance(each, exp.Column) else None for each in call.expressions[1:]]
    if unit_us is None or len(streams) != 2 or None in streams:
        return
    one, other = (int(each) for each in streams if each is not None)
    if isinstance(part, exp.LT | exp.LTE | exp.EQ):
        yield one, other, (number + 1) * unit_us - 1
    if isinstance(part, exp.GT | exp.GTE | exp.EQ):
        yield other, one, (1 - number) * unit_us - 1


def _read_number(tree: exp.Expr) -> int | None:
    bare = tree.unnest()
    sign, bare = (-1, bare.this) if isinstance(bare, exp.Neg) else (1, bare)
    is_whole = isinstance(bare, exp.Literal) and not bare.is_string and bare.name.isdigit()
    return sign * int(bare.name) if is_whole else None


def _compare(less: exp.Expr, more: exp.Expr, strictly: int, find_time: FindTime) -> Iterator[Bound]:
    """What it says that one expression is not after another: ``later - earlier <= bound``."""
    found = _subtract(_linear(less, find_time), _linear(more, find_time))
    if found is None:
        return
    counts, added = found
    signs = {count: stream for stream, count in counts.items() if count}
    if sorted(count for count in counts.values() if count) == [-1, 1]:
        yield signs[-1], signs[1], -added - strictly


def _linear(tree: exp.Expr, find_time: FindTime) -> _Linear | None:
    """A sum of times and intervals."""
    bare = tree.unnest()
    if isinstance(bare, exp.Column):
        stream = find_time(bare)
        return None if stream is None else ({stream: 1}, 0)
    if (span_us := _read_interval(bare)) is not None:
        return {}, span_us
    if isinstance(bare, exp.Add | exp.Sub):
        left, right = _linear(bare.left, find_time), _linear(bare.right, find_time)
        return _subtract(left, _negate(right) if isinstance(bare, exp.Add) else right)
    return _negate(_linear(bare.this, find_time)) if isinstance(bare, exp.Neg) else None


def _read_interval(tree: exp.Expr) -> int | None:
    """An interval, however it is written: ``INTERVAL '5' MINUTE``, ``'5 minutes'::INTERVAL``, ``to_minutes(5)``."""
    if isinstance(tree, exp.Cast) and tree.to.is_type(exp.DType.INTERVAL) and isinstance(tree.this, exp.Literal):
        tree = exp.Interval(this=tree.this.copy())
    if isinstance(tree, exp.Anonymous) and len(tree.expressions) == 1 and isinstance(tree.expressions[0], exp.Literal):
        unit = tree.name.upper().removeprefix("TO_").removesuffix("S")
        tree = exp.Interval(this=tree.expressions[0].copy(), unit=exp.var(unit)) if unit in MICROS else tree
    try:
        return interval(tree) if isinstance(tree, exp.Interval) else None
    except SqlError:
        return None


def _negate(one: _Linear | None) -> _Linear | None:
    return None if one is None else ({stream: -count for stream, count in one[0].items()}, -one[1])


def _subtract(one: _Linear | None, other: _Linear | None) -> _Linear | None:
    if one is None or other is None:
        return None
    streams = one[0].keys() | other[0].keys()
    return {stream: one[0].get(stream, 0) - other[0].get(stream, 0) for stream in streams}, one[1] - other[1]
