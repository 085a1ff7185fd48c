"""Rows of a stream beside rows of a table."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.expression import Expression, columns_of, names_in
from skerry.plan.node import Conditions, Node, Stateless

__all__ = ["Lookup"]


@dataclass(frozen=True)
class Lookup(Stateless):
    """Each row with the rows of a table that have equal keys: an expression over either, per key."""

    input: Node
    table: Source
    name: str
    keys: tuple[tuple[Expression, Expression], ...]

    @property
    def schema(self) -> pa.Schema:
        """The input's columns, then the table's behind its name."""
        found = [field.with_name(f"{self.name}.{field.name}") for field in self.table.schema]
        return pa.schema([*self.input.schema, *found])

    @property
    def tables(self) -> tuple[Source, ...]:
        """The table. It is no input that anything waits for."""
        return (self.table,)

    def lag_us(self, column: str) -> int | None:
        """As the input's; a table's columns have no bound."""
        return self.input.lag_us(column) if column in self.input.schema.names else None

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones of the input, and those that the table is looked up by."""
        return (wanted & set(self.input.schema.names)).union(*(columns_of(mine) for mine, _ in self.keys))

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """Those on columns of the input alone."""
        return tuple(each for each in conditions if names_in(each) <= set(self.input.schema.names))

    def describe(self) -> str:
        """The keys and the table."""
        keys = " AND ".join(f"{mine.sql} = {other.sql}" for mine, other in self.keys)
        return f"Lookup {keys} in table {self.table.name}, read again when it changes"
