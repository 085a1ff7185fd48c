"""What stops a program that takes too much."""

import time

from skerry.deduce.values import Row, depth
from skerry.errors import RuleLimit
from skerry.model.term import Compound, Value
from skerry.plan.program import Limits, Predicate

__all__ = ["Guard", "beyond", "out_of_time", "too_many_stages", "too_many_tuples"]

_LOOKS = 256
"""The clock is looked at once in so many steps."""


class Guard:
    """Counts what a tick takes, and raises E401 where that is too much."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._steps, self._end = limits, 0, time.monotonic() + limits.seconds

    def step(self, predicate: str, rule: int) -> None:
        """Tell of one step of work."""
        self._steps += 1
        if self._steps % _LOOKS == 0 and time.monotonic() > self._end:
            raise out_of_time(self._limits, predicate, rule)

    def tuples(self, count: int, predicate: str, rule: int) -> None:
        """Tell how many tuples a predicate has."""
        if count > self._limits.tuples:
            raise too_many_tuples(self._limits, predicate, rule)

    def stages(self, count: int, predicate: str, rule: int) -> None:
        """Tell how many stages a component has gone through."""
        if count > self._limits.stage:
            raise too_many_stages(self._limits, predicate, rule)

    def row(self, row: Row, predicate: str, rule: int) -> None:
        """Look at the lists and function symbols in a row."""
        for value in row:
            if not isinstance(value, tuple | Compound):
                continue
            if depth(value) > self._limits.term_depth:
                told = f"a term of {predicate!r} is more than {self._limits.term_depth} deep"
                raise RuleLimit(told, "declare a limit", rule)
            if longest(value) > self._limits.list_length:
                told = f"a list of {predicate!r} is longer than {self._limits.list_length:,}"
                raise RuleLimit(told, "declare a limit on its length", rule)


def out_of_time(limits: Limits, predicate: str, rule: int) -> RuleLimit:
    """The error of a tick that takes too long."""
    told = f"a tick takes more than {limits.seconds:g} seconds, while {predicate!r} is derived"
    return RuleLimit(told, "derive less at a time, or declare a limit", rule)


def too_many_tuples(limits: Limits, predicate: str, rule: int | None = None) -> RuleLimit:
    """The error of a predicate that has become too large."""
    told = f"{predicate!r} has more than {limits.tuples:,} tuples"
    return RuleLimit(told, "declare a limit, or a window for the facts", rule)


def too_many_stages(limits: Limits, predicate: str, rule: int) -> RuleLimit:
    """The error of stages that do not end."""
    told = f"{predicate!r} goes through more than {limits.stage:,} stages"
    return RuleLimit(told, "declare a limit on its stage", rule)


def longest(value: Value) -> int:
    """The length of the longest list in a value.

    >>> longest((1, (1, 2, 3)))
    3
    """
    match value:
        case tuple():
            return max(len(value), max(map(longest, value), default=0))
        case Compound(_, arguments):
            return max(map(longest, arguments), default=0)
    return 0


def beyond(row: Row, predicate: Predicate) -> bool:
    """Whether a declared limit cuts this row off.

    >>> from skerry.plan.program import Column, Type
    >>> beyond((65,), Predicate("h", (Column("d", Type.INT),), base=False, limits={0: 64}))
    True
    """
    for column, most in predicate.limits.items():
        value = row[column]
        size = len(value) if isinstance(value, tuple) else value
        if isinstance(size, int | float) and size > most:
            return True
    return False
