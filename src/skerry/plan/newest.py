"""Combinations with the time of the newest of their members."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.types import TIMESTAMP
from skerry.plan.join import Sided
from skerry.plan.net_changes import NetChanges
from skerry.plan.node import Conditions, Node, Stateless
from skerry.plan.select import Select

__all__ = ["NEWEST", "Newest"]

NEWEST = "#newest"
"""The column that holds it; no column of a stream is called so."""


@dataclass(frozen=True)
class Newest(Stateless):
    """The answers of a join, with the greatest of some times of theirs: that by which they are joined with others."""

    input: Node
    times: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The input's columns, then the newest time."""
        return self.input.schema.append(pa.field(NEWEST, TIMESTAMP))

    def lag_us(self, column: str) -> int | None:
        """A combination is given when its last member comes, and then its newest time is not behind the watermark."""
        if column != NEWEST:
            return self.input.lag_us(column)
        below = self.input
        while isinstance(below, Select | NetChanges):
            below = below.input
        return below.newest_lag_us if isinstance(below, Sided) else None

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones, and the times."""
        return (wanted - {NEWEST}).union(self.times)

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """What is below keeps state, and asks nothing of what it is made of."""
        return ()

    def describe(self) -> str:
        """Whose times they are."""
        return f"Newest of {', '.join(self.times)}"
