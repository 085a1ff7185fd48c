"""Combinations of rows of two streams, and rows that have no partner."""

from dataclasses import dataclass, field

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.changes import OP_FIELD
from skerry.model.expression import Expression
from skerry.plan.join import MOST_COMBINATIONS, Sided
from skerry.plan.node import Node
from skerry.plan.side import Side

__all__ = ["OuterJoin", "RevisedOuterJoin"]


@dataclass(frozen=True)
class OuterJoin(Sided):
    """What a join of two sides gives, and each row of a side that is kept and in no combination, with NULLs beside it.

    Both sides have windows of time. A row without a partner is given when its window is over. The first side is always
    kept (LEFT JOIN; of a RIGHT JOIN the first side is the one on the right), both are if ``full``.
    """

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    condition: Expression | None = None
    """What else must hold of a combination for its rows to be partners."""
    text: str = field(default="", compare=False)
    """The condition as the user wrote it."""
    technique: str = "snjoin"
    limit: int = MOST_COMBINATIONS
    full: bool = False

    def __post_init__(self) -> None:
        """Windows are of time: rows that are counted are never settled."""
        if any(side.last_rows is not None for side in self.sides):
            raise InputError("an outer join goes by time, not by rows that are counted")

    @property
    def kept_sides(self) -> tuple[Side, ...]:
        """The sides whose rows are given without a partner too."""
        return self.sides if self.full else self.sides[:1]

    @property
    def schema(self) -> pa.Schema:
        """The columns of both sides, each behind its side's name."""
        return pa.schema([field for side in self.sides for field in side.fields])

    def lag_us(self, column: str) -> int | None:
        """A row of a kept side is given until its window is over; times of the other may be NULL."""
        return None if self.full else self.lag_of(0, column)

    @property
    def newest_lag_us(self) -> int:
        """A row without a partner waits until its window is over."""
        return max(side.span_us or 0 for side in self.kept_sides)

    def describe(self) -> str:
        """The technique, the keys, the windows, and when rows without a partner are given."""
        condition = f" if {self.text}" if self.text else ""
        names = " and ".join(side.name for side in self.kept_sides)
        alone = f"readings of {names} without a partner given when the window is over"
        kind = "FullJoin" if self.full else "LeftJoin"
        return f"{kind} ({self.technique}) {self.describe_sides()}{condition}, {alone}"

    def describe_buckets(self) -> str:
        """By the keys."""
        return self.describe_spread()

    def describe_state(self) -> str:
        """Readings, and marks."""
        return f"every live reading, and which of {' and '.join(side.name for side in self.kept_sides)} have a partner"


@dataclass(frozen=True)
class RevisedOuterJoin(OuterJoin):
    """The same, but rows without a partner are given at once, and taken back when a partner comes."""

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, and the columns of both sides."""
        return pa.schema([OP_FIELD, *super().schema])

    @property
    def is_changing(self) -> bool:
        """Rows without a partner can be taken back."""
        return True

    def describe(self) -> str:
        """That rows are taken back."""
        return super().describe().replace("given when the window is over", "given at once and taken back for a partner")
