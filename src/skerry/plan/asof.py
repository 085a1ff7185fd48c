"""Rows of one stream, each beside the latest of another."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.time import END_OF_TIME, describe_interval
from skerry.plan.join import Sided
from skerry.plan.node import Node
from skerry.plan.side import Side

__all__ = ["Asof"]


@dataclass(frozen=True)
class Asof(Sided):
    """Each row of the first side with the latest of the second that has equal keys and is not after it.

    It is given when the watermark has passed its time. The span of the second side is how old the latest may be. A row
    for which there is none is left out, or, if the side is ``kept``, given with NULLs.
    """

    relations: tuple[Node, ...]
    sides: tuple[Side, Side]
    kept: bool = False
    strictly: bool = False
    """Whether the latest must be before the row, and not at its time."""

    @property
    def schema(self) -> pa.Schema:
        """The columns of both sides, each behind its side's name."""
        return pa.schema([field for side in self.sides for field in side.fields])

    def lag_us(self, column: str) -> int | None:
        """A row is given as soon as the watermark has passed its time; how old the latest is has no bound."""
        first = self.sides[0]
        if column == first.column(first.time):
            return 0
        return self.relations[0].lag_us(column) if first.joined and column in first.schema.names else None

    def describe(self) -> str:
        """The keys, and what is looked for."""
        first, second = self.sides
        keys = " AND ".join(self._describe_key(number) for number in range(len(first.keys)))
        when = f"{'before' if self.strictly else 'at or before'} {first.column(first.time)}"
        age = ""
        if second.span_us is not None and second.span_us < END_OF_TIME:
            age = f", at most {describe_interval(second.span_us)} old"
        alone = f"; readings of {first.name} without one are kept" if self.kept else ""
        return f"Asof {keys or 'all'}, the latest of {second.name} {when}{age}{alone}"

    def describe_buckets(self) -> str:
        """By the keys."""
        return self.describe_spread()

    def describe_state(self) -> str:
        """What the watermark has not passed, and one row per key."""
        return f"readings that the watermark has not passed, and the latest of {self.sides[1].name} per key before it"
