"""Columns computed from each row."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.expression import Columns, Expression, columns_of, names_in, rename_columns
from skerry.plan.node import Conditions, Node, Stateless

__all__ = ["Project"]


@dataclass(frozen=True)
class Project(Stateless):
    """Columns computed from each row."""

    input: Node
    columns: Columns

    def __post_init__(self) -> None:
        """Names must differ, since answers are read by name."""
        names = [name for name, _ in self.columns]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(f"two columns have the name {twice[0]!r}; give one another name with AS")

    @property
    def schema(self) -> pa.Schema:
        """The computed columns."""
        return pa.schema([pa.field(name, expression.type) for name, expression in self.columns])

    def lag_us(self, column: str) -> int | None:
        """That of the column it is, if it is nothing but a column."""
        below = dict(self.columns)[column].column
        return None if below is None else self.input.lag_us(below)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """What the wanted ones are computed from."""
        return frozenset().union(*(columns_of(expression) for name, expression in self.columns if name in wanted))

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """Those on columns that are nothing but columns of the input, under the names that they have there."""
        names = {name: expression.column for name, expression in self.columns if expression.column is not None}
        return tuple(rename_columns(each.copy(), names) for each in conditions if names_in(each) <= names.keys())

    def meaning(self, column: str) -> str:
        """What a column is computed from."""
        expression = dict(self.columns)[column]
        return expression.column or expression.sql

    def describe(self) -> str:
        """The columns, each once."""
        return "Project " + ", ".join(dict.fromkeys(_describe_column(*column) for column in self.columns))


def _describe_column(name: str, expression: Expression) -> str:
    """A column; names with an underscore in front are the plan's own, and not shown."""
    if expression.column == name or name[0] == "_":
        return expression.column or expression.sql
    return f"{name} = {expression.sql}"
