"""Checks the limits of a program while the reference engine computes."""

import time

from skerry.deduce.allowance import Allowance
from skerry.deduce.limits import longest, out_of_time, too_long, too_many_stages, too_many_tuples
from skerry.deduce.values import Row, depth
from skerry.model.term import Compound
from skerry.plan.limits import Limits
from skerry.plan.program import Predicate

__all__ = ["Guard", "exceeds_limit"]

_LOOKS = 256
"""The clock is looked at once in so many steps."""


class Guard:
    """Counts what a tick takes, and raises E401 where that is too much."""

    def __init__(self, limits: Limits) -> None:
        self._allowed, self._steps = Allowance.of(limits), 0
        self._end = time.monotonic() + self._allowed.seconds

    def step(self, predicate: str, rule: int) -> None:
        """Count one step of work."""
        self._steps += 1
        if self._steps % _LOOKS == 0 and time.monotonic() > self._end:
            raise out_of_time(self._allowed.seconds, predicate, rule)

    def tuples(self, count: int, predicate: str, rule: int) -> None:
        """Check how many tuples a predicate has."""
        if count > self._allowed.tuples:
            raise too_many_tuples(self._allowed.tuples, predicate, rule)

    def stages(self, count: int, predicate: str, rule: int) -> None:
        """Check how many stages a component has gone through."""
        if count > self._allowed.stages:
            raise too_many_stages(self._allowed, predicate, rule)

    def row(self, row: Row, predicate: str, rule: int) -> None:
        """Look at the lists and function symbols in a row."""
        for value in row:
            if not isinstance(value, tuple | Compound):
                continue
            if depth(value) > self._allowed.term_depth:
                raise too_long(f"a term of {predicate!r} is more than {self._allowed.term_depth} deep", rule)
            if longest(value) > self._allowed.list_length:
                raise too_long(f"a list of {predicate!r} is longer than {self._allowed.list_length:,}", rule)


def exceeds_limit(row: Row, predicate: Predicate) -> bool:
    """Whether a declared limit cuts this row off.

    >>> from skerry.plan.program import Column, Type
    >>> exceeds_limit((65,), Predicate("h", (Column("d", Type.INT),), base=False, limits={0: 64}))
    True
    """
    for column, most in predicate.limits.items():
        value = row[column]
        size = len(value) if isinstance(value, tuple) else value
        if isinstance(size, int | float) and size > most:
            return True
    return False
