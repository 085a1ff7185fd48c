"""Rows as changes: each ``+`` or ``-``, less those that take each other back."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.changes import OP, OP_FIELD
from skerry.plan.node import Conditions, Node, Stateless

__all__ = ["AsChanges", "NetChanges"]


@dataclass(frozen=True)
class AsChanges(Stateless):
    """Rows that stay, each as one that comes."""

    input: Node

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, and the row."""
        return pa.schema([OP_FIELD, *self.input.schema])

    @property
    def is_changing(self) -> bool:
        """It looks like rows that can be taken back."""
        return True

    def lag_us(self, column: str) -> int | None:
        """As the input's."""
        return None if column == OP else self.input.lag_us(column)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones that are there."""
        return wanted - {OP}

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """All: a row is that of the input."""
        return conditions

    def describe(self) -> str:
        """That rows stay."""
        return "As changes, each row given once"


@dataclass(frozen=True)
class NetChanges(Stateless):
    """Changes without those of one batch that take each other back.

    ``signs`` are the columns that say what becomes of a row; of a combination, one per member that can go.
    """

    input: Node
    signs: tuple[str, ...] = (OP,)

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, and the row."""
        return pa.schema([OP_FIELD, *(field for field in self.input.schema if field.name not in self.signs)])

    @property
    def is_changing(self) -> bool:
        """Rows can be taken back."""
        return True

    def lag_us(self, column: str) -> int | None:
        """As the input's."""
        return None if column == OP else self.input.lag_us(column)

    def describe(self) -> str:
        """What it cancels."""
        return "Net changes of each batch"
