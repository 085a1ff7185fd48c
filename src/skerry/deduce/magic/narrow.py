"""Narrows a program to one question: rewrites it if that keeps its class, else keeps the rules that bear on it."""

from dataclasses import dataclass, replace
from typing import cast

from skerry.deduce.checks import check
from skerry.deduce.evaluate import match_patterns
from skerry.deduce.magic.rewrite import Rewriting
from skerry.deduce.values import Row
from skerry.errors import RuleError
from skerry.model.term import Constant, Term
from skerry.plan.program import Atom, Checked, Class, Output, Rule

__all__ = ["Narrowed", "fits", "keep_relevant", "narrow"]

_SEVERITY = (Class.N, Class.X, Class.S, Class.Y, Class.L)
"""From the class that is cheapest to keep."""


@dataclass(frozen=True)
class Narrowed:
    """A program that answers a question, and the predicate that then holds the answers among others."""

    checked: Checked
    predicate: str


def narrow(checked: Checked, question: Atom) -> Narrowed:
    """Rewrite a program for a question; where that is refused or dearer, keep the rules that bear on it.

    What is derived of the predicate may be more than what fits the question.
    """
    kept = Narrowed(keep_relevant(checked, question.predicate), question.predicate)
    constants = [isinstance(argument, Constant) for argument in question.arguments]
    rewriting = Rewriting(kept.checked.program, _whole(kept.checked))
    if not any(constants) or not rewriting.is_open(question.predicate):
        return kept
    predicate, program = rewriting.program(question)
    try:
        rewritten = check(replace(program, outputs=(Output(predicate),), spatial=()))
    except RuleError:
        return kept
    return kept if _worst(rewritten) > _worst(kept.checked) else Narrowed(rewritten, predicate)


def fits(row: Row, question: Atom) -> bool:
    """Whether a row answers a question.

    >>> from skerry.model.term import Variable
    >>> question = Atom("path", (Constant(1), Variable("x")))
    >>> fits((1, 2), question), fits((2, 1), question)
    (True, False)
    """
    return match_patterns(cast(tuple[Term, ...], question.arguments), row, {}) is not None


def keep_relevant(checked: Checked, predicate: str) -> Checked:
    """The rules that a predicate needs, with their numbers; base predicates keep the types that all rules give them."""
    program = checked.program
    wanted, waiting = set[str](), [predicate]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            rules = [rule for rule in program.rules if rule.head.predicate == name]
            waiting += [each for rule in rules for each in _find_needs(rule)]
    bases = {name: replace(each, declared=True) for name, each in checked.predicates.items() if each.base}
    known = {name: each for name, each in {**program.predicates, **bases}.items() if name in wanted}
    kept = tuple(rule for rule in program.rules if rule.head.predicate in wanted)
    part = replace(program, rules=kept, predicates=known, outputs=(Output(predicate),), spatial=())
    try:
        return check(part)
    except RuleError:
        return checked


def _find_needs(rule: Rule) -> list[str]:
    return [subgoal.predicate for subgoal in rule.body if isinstance(subgoal, Atom)]


def _whole(checked: Checked) -> set[str]:
    """The predicates that are derived as a whole: by stages, tuple by tuple, or by aggregates."""
    ordered = [each for each in checked.components if each.stages or each.kind is Class.L]
    staged = {name for component in ordered for name in component.predicates}
    return staged | {rule.head.predicate for rule in checked.rules if rule.aggregates}


def _worst(checked: Checked) -> int:
    return max((_SEVERITY.index(component.kind) for component in checked.components), default=0)
