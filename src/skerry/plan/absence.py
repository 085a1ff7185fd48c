"""Rows without a partner."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.plan.join import Sided
from skerry.plan.node import Node
from skerry.plan.side import Side

__all__ = ["Absence"]


@dataclass(frozen=True)
class Absence(Sided):
    """The rows of the first side that have no partner on the second: equal keys, each in its window as of the newer."""

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    columns: tuple[str, ...]
    """What is given of a row."""

    @property
    def schema(self) -> pa.Schema:
        """Columns of the first side."""
        return pa.schema([self.sides[0].schema.field(name) for name in self.columns])

    def lag_us(self, column: str) -> int | None:
        """A row is given when its window is over."""
        lag, span_us = self.relations[0].lag_us(column), self.sides[0].span_us
        return None if lag is None or span_us is None else lag + span_us

    def describe(self) -> str:
        """What is absent."""
        return f"Absence of {self.sides[1].name}: {self.describe_sides()}, given when the window is over"

    def describe_state(self) -> str:
        """Readings of both sides."""
        return "readings until it is settled whether they have a partner, and their partners"
