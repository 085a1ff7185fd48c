"""Scalar expressions: what a projection computes and a selection asks."""

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from skerry.model.dialect import write_expression
from skerry.model.predicate import Predicate

__all__ = ["Columns", "Expression", "list_columns"]


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
