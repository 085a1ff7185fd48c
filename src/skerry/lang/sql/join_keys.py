"""Equalities between streams: what all streams of a join agree on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.scalar import Scope, scalar
from skerry.model.expression import Expression

__all__ = ["Equality", "Keys", "Term", "find_keys"]

Keys = list[dict[int, Expression]]
"""For each key, an expression per stream."""


@dataclass(frozen=True)
class Term:
    """One end of an equality: an expression over one stream, and the tables looked up beside it."""

    home: int
    tree: exp.Expr
    bound: Expression

    @classmethod
    def of(cls, home: int, tree: exp.Expr, scope: Scope) -> "Term":
        """An expression over the stream at a position."""
        return cls(home, tree, scalar(tree, scope))

    @property
    def name(self) -> tuple[int, str]:
        """What two spellings of it share."""
        return self.home, self.bound.sql


@dataclass(frozen=True)
class Equality:
    """Two terms that must be equal, and the condition that says so."""

    left: Term
    right: Term
    part: exp.Expr


def find_keys(
    equalities: Sequence[Equality], streams: Sequence[int], scope_of: Callable[[int], Scope], tree: exp.Expr
) -> tuple[Keys, list[exp.Expr]]:
    """What all streams agree on, and the equalities that are left to be asked of combinations.

    An equality reaches further through others: ``a.k = b.k AND b.k = c.k`` is one key of three streams.
    """
    classes: list[dict[tuple[int, str], Term]] = []
    for each in equalities:
        pair = {term.name: term for term in (each.left, each.right)}
        touched = [found for found in classes if found.keys() & pair.keys()]
        merged = {name: term for found in [*touched, pair] for name, term in found.items()}
        classes = [*(found for found in classes if found not in touched), merged]
    everywhere = [found for found in classes if {home for home, _ in found} == set(streams)]
    chosen = [[_first(found, home) for home in streams] for found in everywhere]
    implied = [{term.name for term in terms} for terms in chosen]
    left = [
        each.part for each in equalities if not any({each.left.name, each.right.name} <= known for known in implied)
    ]
    keys = []
    for terms in chosen:
        bound = bring_to_one_type([term.tree for term in terms], [scope_of(term.home) for term in terms], tree)
        keys.append({term.home: expression for term, expression in zip(terms, bound, strict=True)})
    return keys, left


def _first(found: Mapping[tuple[int, str], Term], home: int) -> Term:
    return next(term for term in found.values() if term.home == home)
