"""Combinations of rows of two streams, and rows of the first that have no partner."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.expression import Expression
from skerry.plan.join import MOST_COMBINATIONS, Sided
from skerry.plan.node import Node
from skerry.plan.side import Side

__all__ = ["LeftJoin"]


@dataclass(frozen=True)
class LeftJoin(Sided):
    """What a join of two sides gives, and each row of the first side that is in no combination, with NULLs beside it.

    Both sides have windows of time. A row without a partner is given when its window is over.
    """

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    condition: Expression | None = None
    """What else must hold of a combination for its rows to be partners."""
    text: str = ""
    """The condition as the user wrote it."""
    technique: str = "snjoin"
    limit: int = MOST_COMBINATIONS

    @property
    def schema(self) -> pa.Schema:
        """The columns of both sides, each behind its side's name."""
        return pa.schema([field.with_name(f"{side.name}.{field.name}") for side in self.sides for field in side.schema])

    def lag_us(self, column: str) -> int | None:
        """A row of the first side is given until its window is over; times of the second may be NULL."""
        first = self.sides[0]
        return first.span_us if column == f"{first.name}.{first.time}" else None

    def describe(self) -> str:
        """The technique, the keys, the windows, and when rows without a partner are given."""
        condition = f" if {self.text}" if self.text else ""
        alone = f"readings of {self.sides[0].name} without a partner given when the window is over"
        return f"LeftJoin ({self.technique}) {self.describe_sides()}{condition}, {alone}"

    def describe_buckets(self) -> str:
        """By the keys."""
        return f"{super().describe_buckets()}, a key in one bucket however hot"

    def describe_state(self) -> str:
        """Readings, and marks."""
        return f"every live reading, and which of {self.sides[0].name} have a partner"
