"""Which recursions fall apart into buckets that need nothing of each other.

In ``path(a, c) :- path(a, b), edge(b, c)`` a path derives only paths from the same ``a``: the first column of ``path``
is a **pivot**. All that follows from the paths of some starts can be derived together, without the others.

Shkapsky, Yang, Interlandi, Chiu, Condie, Zaniolo: Big Data Analytics with Datalog Queries on Spark, 2016 (decomposable
programs).
"""

from collections.abc import Sequence

from skerry.model.term import Variable
from skerry.plan.program import Atom, Class, Component, Rule

__all__ = ["find_pivot", "is_recursive"]


def find_pivot(component: Component) -> int | None:
    """The first column of a component's only predicate that every recursive rule hands on unchanged; None: no such.

    >>> from skerry.deduce.checks import check
    >>> from skerry.lang.rules import read
    >>> text = "p(a, b) :- e(a, b). p(a, c) :- e(a, b), p(b, c)."
    >>> find_pivot(check(read(text)).components[0])
    1
    """
    if component.kind != Class.S or len(component.predicates) != 1:
        return None
    [name] = component.predicates
    rules = [rule for rule in component.rules if is_recursive(rule, component.predicates)]
    columns = range(len(rules[0].head.arguments)) if rules else ()
    return next((column for column in columns if all(_hands_on(rule, name, column) for rule in rules)), None)


def is_recursive(rule: Rule, own: Sequence[str]) -> bool:
    """Whether a rule needs a predicate of its own component."""
    return any(isinstance(each, Atom) and each.predicate in own for each in rule.body)


def _hands_on(rule: Rule, name: str, column: int) -> bool:
    """Whether the head has in a column what all subgoals of its own predicate have there."""
    wanted = rule.head.arguments[column]
    own = [each for each in rule.body if isinstance(each, Atom) and each.predicate == name]
    return isinstance(wanted, Variable) and all(atom.arguments[column] == wanted for atom in own)
