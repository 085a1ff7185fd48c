"""The errors that stop a program which takes too much: time, tuples, stages, long lists."""

from skerry.errors import RuleLimit
from skerry.model.term import Compound, Value
from skerry.plan.program import Limits

__all__ = ["longest", "out_of_time", "too_many_stages", "too_many_tuples"]


def out_of_time(limits: Limits, predicate: str, rule: int) -> RuleLimit:
    """The error of a tick that takes too long."""
    message = f"a tick takes more than {limits.seconds:g} seconds, while {predicate!r} is derived"
    return RuleLimit(message, "derive less at a time, or declare a limit", rule)


def too_many_tuples(limits: Limits, predicate: str, rule: int | None = None) -> RuleLimit:
    """The error of a predicate that has become too large."""
    message = f"{predicate!r} has more than {limits.tuples:,} tuples"
    return RuleLimit(message, "declare a limit, or a window for the facts", rule)


def too_many_stages(limits: Limits, predicate: str, rule: int) -> RuleLimit:
    """The error of stages that do not end."""
    message = f"{predicate!r} goes through more than {limits.stage:,} stages"
    return RuleLimit(message, "declare a limit on its stage", rule)


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
