"""Lists with a row per element."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.plan.node import Node, Stateless

__all__ = ["Unnest"]


@dataclass(frozen=True)
class Unnest(Stateless):
    """Each row of the input once per element of a list column, which has the element in place of the list."""

    input: Node
    column: str
    number: str | None = None
    """A last column with the position of the element, from 1, if it has a name."""
    keeps_empty: bool = False
    """Whether a row without elements is given once, with NULL."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of the input, the list as its elements."""
        below = self.input.schema
        position = below.get_field_index(self.column)
        found = below.set(position, pa.field(self.column, below.field(position).type.value_type))
        return found.append(pa.field(self.number, pa.int64())) if self.number else found

    def lag_us(self, column: str) -> int | None:
        """That below; elements have none."""
        return None if column in (self.column, self.number) else self.input.lag_us(column)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """Those, and the list."""
        return (wanted - {self.number or ""}) | {self.column}

    def describe(self) -> str:
        """The list."""
        return f"Rows per element of {self.column}"
