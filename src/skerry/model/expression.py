"""Scalar expressions: what a projection computes and a selection asks."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from skerry.model.dialect import parse_expression, write_expression
from skerry.model.predicate import Predicate

__all__ = ["Columns", "Expression", "columns_of", "list_columns", "names_in", "rename_columns", "split_conjunction"]


@dataclass(frozen=True)
class Expression:
    """A scalar expression in DuckDB's dialect, with its type; made from a checked syntax tree, never from text.

    ``column`` is set where it is nothing but a column, which costs no evaluation; ``predicate`` where Arrow
    decides it as DuckDB would, which costs less.
    """

    sql: str
    type: pa.DataType
    column: str | None = None
    predicate: Predicate | None = None

    @classmethod
    def of(cls, name: str, type_: pa.DataType) -> "Expression":
        """A bare column.

        >>> Expression.of("speed", pa.float64()).sql
        '"speed"'
        """
        return cls(write_expression(exp.column(name, quoted=True)), type_, name)


Columns = tuple[tuple[str, Expression], ...]
"""The columns of an answer: names, and what computes them."""


def list_columns(schema: pa.Schema) -> Columns:
    """All columns of a relation, as they are.

    >>> [name for name, _ in list_columns(pa.schema({"speed": pa.float64()}))]
    ['speed']
    """
    return tuple((field.name, Expression.of(field.name, field.type)) for field in schema)


def names_in(tree: exp.Expr) -> frozenset[str]:
    """The columns that a tree is about."""
    return frozenset(column.name for column in tree.find_all(exp.Column))


def columns_of(expression: Expression) -> frozenset[str]:
    """The columns that an expression is computed from.

    >>> sorted(columns_of(Expression('"speed" * "flow"', pa.float64())))
    ['flow', 'speed']
    """
    if expression.column is not None:
        return frozenset([expression.column])
    return names_in(parse_expression(expression.sql))


def split_conjunction(expression: Expression) -> tuple[exp.Expr, ...]:
    """The conditions that a predicate joins by AND, as trees of their own.

    >>> [each.sql() for each in split_conjunction(Expression('"speed" < 30 AND ("flow" > 2 OR "wet")', pa.bool_()))]
    ['"speed" < 30', '("flow" > 2 OR "wet")']
    """
    tree = parse_expression(expression.sql).unnest()
    return tuple(part.copy() for part in tree.flatten(unnest=False)) if isinstance(tree, exp.And) else (tree,)


def rename_columns(tree: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """The same tree over columns of other names.

    >>> rename_columns(parse_expression('"v" < 30'), {"v": "speed"}).sql()
    '"speed" < 30'
    """
    for column in list(tree.find_all(exp.Column)):
        column.set("this", exp.to_identifier(names[column.name], quoted=True))
    return tree
