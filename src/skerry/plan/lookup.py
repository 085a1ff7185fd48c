"""Rows of a stream beside rows of a table."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.expression import Expression, columns_of, names_in
from skerry.plan.derived_table import describe_table
from skerry.plan.node import Conditions, Node, Stateless

__all__ = ["Lookup"]


@dataclass(frozen=True)
class Lookup(Stateless):
    """Each row with the rows of a table that have equal keys: an expression over either, per key.

    Without keys, each row with every row of the table.
    """

    input: Node
    table: Source
    name: str
    keys: tuple[tuple[Expression, Expression], ...]
    pair_condition: Expression | None = None
    """What else must hold of a row and a row of the table, over the columns of both."""

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

    @property
    def looked_up(self) -> frozenset[str]:
        """The columns of the table by which rows are found."""
        return frozenset[str]().union(*(columns_of(other) for _, other in self.keys))

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones of the input, and those that the table is looked up by."""
        asked = columns_of(self.pair_condition) if self.pair_condition else frozenset[str]()
        needed = (wanted | asked) & set(self.input.schema.names)
        return needed.union(*(columns_of(mine) for mine, _ in self.keys))

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """Those on columns of the input alone."""
        return tuple(each for each in conditions if names_in(each) <= set(self.input.schema.names))

    def describe(self) -> str:
        """The keys and the table."""
        keys = " AND ".join(f"{mine.sql} = {other.sql}" for mine, other in self.keys)
        pairs = f" where {self.pair_condition.sql}" if self.pair_condition else ""
        return f"Lookup {keys or 'every row'} in {describe_table(self.table)}{pairs}, read again when it changes"
