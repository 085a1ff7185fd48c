"""Disjunctive normal form: a union of terms says where a part of a predicate is true, another where it is false."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from sqlglot import exp

from skerry.index.region import Operand
from skerry.index.value_sets import ValueSet

__all__ = ["MOST_BOXES", "Part", "Term", "Terms", "Truth", "intersect", "leave_to_duckdb", "no_terms", "unite"]

MOST_BOXES = 64
"""A predicate that needs more boxes keeps a few wide ones, and a residual."""


class Part(NamedTuple):
    """A part of a predicate's tree, or NOT of it. The tree's constants may change, so it is written when needed."""

    tree: exp.Expr
    negated: bool = False

    def negate(self) -> "Part":
        """NOT of it."""
        return Part(self.tree, not self.negated)

    def write(self) -> exp.Expr:
        """As a tree of its own."""
        return exp.not_(self.tree, copy=True) if self.negated else self.tree.copy()


class Term(NamedTuple):
    """Sides that hold together, each a set of any shape, and what else must be true."""

    sides: Mapping[Operand, ValueSet] = {}
    residual: tuple[Part, ...] = ()

    def __and__(self, other: "Term") -> "Term":
        """What is in both."""
        sides = dict(self.sides)
        for name, values in other.sides.items():
            sides[name] = sides[name] & values if name in sides else values
        return Term(sides, self.residual + other.residual)

    @property
    def is_possible(self) -> bool:
        """Whether every side has a value."""
        return False not in map(bool, self.sides.values())


Terms = tuple[Term, ...]
"""A union of terms. Without any, it is true nowhere."""


def no_terms() -> Terms:
    """The union that is true nowhere."""
    return ()


@dataclass(frozen=True)
class Truth:
    """Where a part of a predicate is true, and where it is false, each found when asked; elsewhere it is NULL."""

    true: Callable[[], Terms]
    false: Callable[[], Terms]

    def negate(self) -> "Truth":
        """The same of NOT."""
        return Truth(self.false, self.true)


def leave_to_duckdb(part: Part) -> Truth:
    """A part that no box can express."""
    return Truth(lambda: _to_residual(part), lambda: _to_residual(part.negate()))


def _to_residual(part: Part) -> Terms:
    return (Term(residual=(part,)),)


def unite(whole: Part, terms: Iterable[Terms]) -> Terms:
    """The union of several unions; ``whole`` says the same, for DuckDB, if there are too many terms.

    Terms over the same one column become one.
    """
    single: dict[Operand, ValueSet] = {}
    others: list[Term] = []
    for term in (each for some in terms for each in some):
        if len(term.sides) == 1 and not term.residual:
            ((name, values),) = term.sides.items()
            single[name] = single[name] | values if name in single else values
        else:
            others.append(term)
    if len(single) + len(others) > MOST_BOXES:
        return _to_residual(whole)
    return (*(Term({name: values}) for name, values in single.items()), *others)


def intersect(parts: Sequence[tuple[Part, Terms]]) -> Terms:
    """The intersection of several unions. The widest are left to DuckDB if there would be too many terms."""

    def meet(found: Terms, part: tuple[Part, Terms]) -> Terms:
        whole, terms = part
        if len(found) * len(terms) > MOST_BOXES:
            terms = _to_residual(whole)
        pairs = (one & other for one in found for other in terms)
        return tuple(term for term in pairs if term.is_possible)

    single = [terms[0] for _, terms in parts if len(terms) == 1]
    if len(single) == len(parts):  # by far the most, so they are spared the rest
        return _join_single(single)
    return reduce(meet, sorted(parts, key=lambda part: len(part[1])), (Term(),))


def _join_single(terms: Sequence[Term]) -> Terms:
    """The intersection of terms."""
    sides: dict[Operand, ValueSet] = {}
    residual: tuple[Part, ...] = ()
    for term in terms:
        residual += term.residual
        for name, values in term.sides.items():
            known = sides.get(name)
            sides[name] = values if known is None else known & values
            if not sides[name]:
                return ()
    return (Term(sides, residual),)
