"""Unions of terms: where parts of a predicate are true and where they are false."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlglot import exp

from skerry.index.value_sets import Values

__all__ = ["MOST_BOXES", "Term", "Terms", "Truth", "left", "met", "nowhere", "united"]

MOST_BOXES = 64
"""A predicate that needs more boxes keeps a few wide ones, and a residual."""


@dataclass(frozen=True)
class Term:
    """Sides that hold together, each a set of any shape, and what else must be true."""

    sides: Mapping[str, Values] = field(default_factory=dict)
    residual: tuple[exp.Expr, ...] = ()

    def __and__(self, other: "Term") -> "Term":
        """Both together."""
        sides = dict(self.sides)
        for name, values in other.sides.items():
            sides[name] = sides[name] & values if name in sides else values
        return Term(sides, self.residual + other.residual)

    @property
    def possible(self) -> bool:
        """Whether every side has a value."""
        return all(self.sides.values())


Terms = tuple[Term, ...]
"""A union. None at all is nowhere."""


def nowhere() -> Terms:
    """No term at all."""
    return ()


@dataclass(frozen=True)
class Truth:
    """Where a part of a predicate is true, and where it is false, each found when asked; elsewhere it is NULL."""

    true: Callable[[], Terms]
    false: Callable[[], Terms]

    def swapped(self) -> "Truth":
        """The same of what is not so."""
        return Truth(self.false, self.true)


def left(tree: exp.Expr) -> Truth:
    """What is left to DuckDB."""
    return Truth(lambda: _residual(tree), lambda: _residual(exp.not_(tree, copy=True)))


def _residual(tree: exp.Expr) -> Terms:
    return (Term(residual=(tree,)),)


def united(tree: exp.Expr, terms: Iterable[Terms]) -> Terms:
    """What is in any of several unions; ``tree`` says the same, for DuckDB, if there are too many terms.

    Terms over the same one column become one.
    """
    single: dict[str, Values] = {}
    others: list[Term] = []
    for term in (each for some in terms for each in some):
        if len(term.sides) == 1 and not term.residual:
            ((name, values),) = term.sides.items()
            single[name] = single[name] | values if name in single else values
        else:
            others.append(term)
    if len(single) + len(others) > MOST_BOXES:
        return _residual(tree)
    return (*(Term({name: values}) for name, values in single.items()), *others)


def met(parts: Sequence[tuple[exp.Expr, Terms]]) -> Terms:
    """What is in all of several unions. The widest are left to DuckDB where there would be too many terms."""

    def meet(found: Terms, part: tuple[exp.Expr, Terms]) -> Terms:
        tree, terms = part
        if len(found) * len(terms) > MOST_BOXES:
            terms = _residual(tree)
        pairs = (one & other for one in found for other in terms)
        return tuple(term for term in pairs if term.possible)

    return reduce(meet, sorted(parts, key=lambda part: len(part[1])), (Term(),))
