"""Expressions that mean the same, spelled the same: to find what several views compute.

Nothing is run as it is spelled here. So what is not known to be equal may stay different, but what differs must not
become equal: a row on which an expression fails counts, and so does which part of it fails first.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import TypeAlias

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.model.dialect import parse_expression, write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Expression
from skerry.plan.failing import never_fails

__all__ = ["Spelling", "Tokens", "find_token", "spell_conditions", "spell_expression"]

Spelling: TypeAlias = Hashable
Tokens: TypeAlias = Mapping[str, Spelling]
"""What the columns that an expression is about were computed from."""

_MIRRORED: Mapping[type, type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}
_NEGATED: Mapping[type, type[exp.Expr]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.LTE: exp.GT,
    exp.GT: exp.LTE,
    exp.GTE: exp.LT,
}
_COMMUTATIVE = (exp.EQ, exp.NEQ, exp.Add, exp.Mul)
_CONSTANT = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Literal)


def spell_expression(expression: Expression, tokens: Tokens) -> Spelling:
    """What an expression computes, and of which type."""
    if expression.column is not None:
        return find_token(expression.column, tokens)
    tree = parse_expression(expression.sql)
    return ("computed", str(expression.type), _Speller(tokens, None).spell(tree))


def find_token(column: str, tokens: Tokens) -> Spelling:
    """What a column was computed from. The order of arrival, which no schema shows, is one for all."""
    return tokens.get(column, ("unlisted", column))


def spell_conditions(predicate: Expression, tokens: Tokens, schema: pa.Schema) -> frozenset[Spelling]:
    """The conditions that a predicate joins by AND: a row is kept if each is true, whichever is looked at first."""
    return frozenset(_Speller(tokens, schema).conditions(parse_expression(predicate.sql)))


class _Speller:
    """Spells trees over columns that are known by tokens; with a schema, it can tell what never fails."""

    def __init__(self, tokens: Tokens, schema: pa.Schema | None) -> None:
        self._tokens, self._schema = tokens, schema

    def conditions(self, tree: exp.Expr) -> list[Spelling]:
        """The parts of a conjunction."""
        tree = tree.unnest()
        if isinstance(tree, exp.And):
            return [part for side in (tree.this, tree.expression) for part in self.conditions(side)]
        if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            value, low, high = (self.spell(tree.args[name]) for name in ("this", "low", "high"))
            return [("LTE", low, value), ("LTE", value, high)]
        return [self.spell(tree)]

    def spell(self, tree: exp.Expr) -> Spelling:
        """One tree."""
        tree = tree.unnest()
        if isinstance(tree, exp.Column):
            return find_token(tree.name, self._tokens)
        if isinstance(tree, exp.Literal):
            return "text" if tree.is_string else "number", tree.name
        if not tree.find(exp.Column) and all(isinstance(node, _CONSTANT) for node in tree.walk()):
            return _fold_constant(write_expression(tree))
        return self._spell_operator(tree)

    def _spell_operator(self, tree: exp.Expr) -> Spelling:
        compared = tree.this.unnest() if isinstance(tree, exp.Not) else None
        if compared and (negated := _NEGATED.get(type(compared))):
            return self.spell(negated(this=compared.this, expression=compared.expression))
        if isinstance(tree, exp.LT | exp.LTE):
            return type(tree).__name__, self.spell(tree.this), self.spell(tree.expression)
        if type(tree) in _MIRRORED:
            return _MIRRORED[type(tree)].__name__, self.spell(tree.expression), self.spell(tree.this)
        if isinstance(tree, exp.And | exp.Or):
            return self._spell_connector(tree)
        if isinstance(tree, _COMMUTATIVE):
            return type(tree).__name__, _count([self.spell(tree.this), self.spell(tree.expression)])
        if isinstance(tree, exp.In) and all(isinstance(each, exp.Literal) for each in tree.expressions or [None]):
            return "In", self.spell(tree.this), frozenset(map(self.spell, tree.expressions))
        if isinstance(tree, exp.DataType):
            return write_expression(tree)
        return type(tree).__name__, *_spell_arguments(tree, self.spell)

    def _spell_connector(self, tree: exp.And | exp.Or) -> Spelling:
        """OR stops at the first part that is true: the order counts, unless none of them can fail."""
        parts = [self.spell(part) for part in tree.flatten()]
        is_free = self._schema is not None and never_fails(tree, self._schema)
        return type(tree).__name__, frozenset(parts) if is_free else tuple(parts)


def _spell_arguments(tree: exp.Expr, spell: Callable[[exp.Expr], Spelling]) -> list[Spelling]:
    found: list[Spelling] = []
    for name, value in sorted(tree.args.items()):
        several = value if isinstance(value, list) else [value]
        spelled = tuple(spell(each) if isinstance(each, exp.Expr) else _spell_word(name, each) for each in several)
        found += [(name, spelled)] if value not in (None, [], False) else []
    return found


def _spell_word(name: str, word: object) -> str:
    """The name of a function, in any letters; anything else as it is."""
    return word.casefold() if name == "this" and isinstance(word, str) else repr(word)


def _count(spelled: list[Spelling]) -> Spelling:
    """The same, in whatever order."""
    return frozenset(Counter(spelled).items())


@lru_cache(maxsize=10_000)
def _fold_constant(sql: str) -> Spelling:
    """What DuckDB makes of numbers alone; the text itself, if that fails."""
    try:
        ((value, type_),) = open_duckdb().sql(f"SELECT v, typeof(v) FROM (SELECT {sql} AS v)").fetchall()
    except duckdb.Error:
        return "failing", sql
    return ("number", str(value)) if type_ == "INTEGER" and value >= 0 else (type_, str(value))
