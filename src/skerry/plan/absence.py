"""Rows without a partner, and rows with one."""

from dataclasses import dataclass, field
from typing import ClassVar

import pyarrow as pa

from skerry.model.expression import Expression, columns_of
from skerry.plan.join import Sided
from skerry.plan.node import Node
from skerry.plan.side import Side

__all__ = ["Absence", "NotIn", "Presence"]


@dataclass(frozen=True)
class Absence(Sided):
    """The rows of the first side that have no partner on the second: equal keys, each in its window as of the newer."""

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    columns: tuple[str, ...]
    """What is given of a row."""
    condition: Expression | None = None
    """What partners must agree on beside their keys; over the columns of both sides, behind their names."""
    text: str = field(default="", compare=False)
    """The condition as the user wrote it."""
    word: ClassVar[str] = "Absence"

    @property
    def schema(self) -> pa.Schema:
        """Columns of the first side."""
        return pa.schema([self.sides[0].schema.field(name) for name in self.columns])

    def lag_us(self, column: str) -> int | None:
        """A row is given when its window is over."""
        lag, span_us = self.relations[0].lag_us(column), self.sides[0].span_us
        return None if lag is None or span_us is None else lag + span_us

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones of the first side; of both, what is compared."""
        side = self.sides[position]
        asked = columns_of(self.condition) if self.condition else frozenset()
        compared = {name for name in side.schema.names if f"{side.name}.{name}" in asked}
        return frozenset({*side.keys, side.time, *compared, *(() if position else wanted)})

    def describe(self) -> str:
        """What is absent, or present."""
        asked = f" if {self.text}" if self.text else ""
        return f"{self.word} of {self.sides[1].name}: {self.describe_sides()}{asked}, given when the window is over"

    def describe_state(self) -> str:
        """Readings of both sides."""
        return "readings until it is settled whether they have a partner, and their partners"


@dataclass(frozen=True)
class Presence(Absence):
    """The rows of the first side that have a partner on the second, each once."""

    word: ClassVar[str] = "Presence"
    needs_every_reading: ClassVar[bool] = False


@dataclass(frozen=True)
class NotIn(Absence):
    """The rows of the first side whose last key is known to differ from that of all rows they meet by the others."""

    word: ClassVar[str] = "NotIn"

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """All keys but the last: a row must know of every NULL."""
        return self.sides[position].keys[:-1]

    def describe_buckets(self) -> str:
        """Where rows meet."""
        keys = ", ".join(self._meaning(0, key) for key in self.sides[0].keys[:-1])
        return f"by {keys}" if keys else "in one bucket, since NOT IN asks about every NULL; NOT EXISTS does not"
