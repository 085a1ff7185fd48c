"""Windows of derived predicates: a tuple is derived while its time is not before the window.

Where the window of ``p`` begins is the one fact of a base predicate, ``$since p``. Who runs the program sets it at
each tick. Every rule of ``p`` asks it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from skerry.errors import RuleError
from skerry.model.term import Variable
from skerry.plan.program import SINCE, Aggregate, Atom, Column, Comparison, Predicate, Rule, Type

__all__ = ["ask_windows", "declare_windows"]

_BEGIN = Variable(SINCE.strip())


def declare_windows(predicates: Mapping[str, Predicate]) -> dict[str, Predicate]:
    """The predicates of a program, and those that say where windows begin."""
    begins = [f"{SINCE}{each.name}" for each in predicates.values() if _has_window(each)]
    columns = (Column("since", Type.TIME),)
    return {**predicates, **{name: Predicate(name, columns, base=True) for name in begins}}


def ask_windows(rules: Iterable[Rule], predicates: Mapping[str, Predicate]) -> tuple[Rule, ...]:
    """Rules that derive no tuple from before its window."""
    return tuple(_ask_window(rule, predicates.get(rule.head.predicate)) for rule in rules)


def _ask_window(rule: Rule, predicate: Predicate | None) -> Rule:
    if predicate is None or predicate.time is None or not _has_window(predicate):
        return rule
    if predicate.time >= len(rule.head.arguments):
        return rule
    moment = rule.head.arguments[predicate.time]
    if isinstance(moment, Aggregate):
        message = f"the time of {predicate.name!r}, which has a window, is an aggregate"
        raise RuleError("E110", message, "aggregate in another predicate, and derive this one from it", rule.number)
    begin = Atom(f"{SINCE}{predicate.name}", (_BEGIN,), location=rule.location)
    return replace(rule, body=(*rule.body, begin, Comparison(">=", moment, _BEGIN, rule.location)))


def _has_window(predicate: Predicate) -> bool:
    return not predicate.base and predicate.window_us is not None
