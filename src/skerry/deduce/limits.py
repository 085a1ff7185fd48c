"""The errors that stop a program which takes too much: time, tuples, memory, stages, long lists."""

from skerry.deduce.allowance import Allowance
from skerry.errors import MemoryLimit, RuleLimit
from skerry.model.term import Compound, Value
from skerry.plan.limits import describe_homes

__all__ = ["longest", "out_of_memory", "out_of_time", "too_long", "too_many_stages", "too_many_tuples"]


def out_of_time(seconds: float, predicate: str, rule: int) -> RuleLimit:
    """The error of a tick that takes too long."""
    message = f"a tick takes more than {seconds:,.4g} seconds, while {predicate!r} is derived"
    return RuleLimit(message, f"derive less at a time; {describe_homes('seconds')}", rule)


def too_many_tuples(most: float, predicate: str, rule: int | None = None) -> RuleLimit:
    """The error of a predicate that has become too large."""
    message = f"{predicate!r} has more than {most:,} tuples"
    return RuleLimit(message, f"declare a limit, or a window for the facts; {describe_homes('tuples')}", rule)


def out_of_memory(allowed: Allowance, tuples: int, predicate: str, rule: int) -> MemoryLimit:
    """The error of a program that takes more than its share of the memory."""
    share = f"the {allowed.bytes / 2**30:,.1f} GiB that a program may take of the memory there is"
    message = f"{tuples:,} tuples of {predicate!r} and what else the program holds take more than {share}"
    return MemoryLimit(message, f"declare a limit, or a window for the facts; {describe_homes('tuples')}", rule)


def too_many_stages(allowed: Allowance, predicate: str, rule: int) -> RuleLimit:
    """The error of stages that do not end."""
    message = f"{predicate!r} goes through more than {allowed.stages:,} stages"
    return RuleLimit(message, f"declare a limit on its stage; {describe_homes('stages')}", rule)


def too_long(message: str, rule: int) -> RuleLimit:
    """The error of a list that is too long, or a term that is too deep."""
    homes = f"; {describe_homes('list_length')}" if message.startswith("a list") else ""
    return RuleLimit(message, f"declare a limit on its length{homes}", rule)


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
