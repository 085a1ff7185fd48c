"""Combinations of rows of several streams."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.plan.node import ManyInputs, Node
from skerry.plan.overload import Overload, Shedding, Spilling
from skerry.plan.project import Project
from skerry.plan.side import Side
from skerry.plan.union import list_parts

__all__ = ["MOST_COMBINATIONS", "Join", "Sided"]

MOST_COMBINATIONS = 10_000_000
"""How many combinations of readings a view may give in one step, if it does not say."""


class Sided(ManyInputs):
    """Streams that meet by equal keys, each in a window: what all joins of streams have in common."""

    relations: tuple[Node, ...]
    sides: tuple[Side, ...]

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The keys that are compared."""
        return self.sides[position].keys

    def compared_keys(self, position: int) -> tuple[str, ...]:
        """Those of the side, in however many buckets they are."""
        return self.sides[position].keys

    def time_of(self, position: int) -> str | None:
        """The time that the side's window goes by."""
        return self.sides[position].time

    def feed_name(self, position: int, source: Source) -> str:
        """The alias in the query."""
        return self.sides[position].name

    def describe_buckets(self) -> str:
        """By the keys that are compared."""
        if not self.sides[0].keys:
            return "in one bucket, since nothing has to be equal"
        return f"by {', '.join(self._meaning(0, key) for key in self.sides[0].keys)}"

    def describe_spread(self) -> str:
        """By the keys, if there are any, and what that means for hot ones."""
        buckets = Sided.describe_buckets(self)
        return f"{buckets}, a key in one bucket however hot" if self.sides[0].keys else buckets

    def lag_of(self, position: int, column: str) -> int | None:
        """How far a time of a side may lie behind the newest of a combination; None if there is no bound."""
        side = self.sides[position]
        if column == side.column(side.time):
            return side.span_us
        if side.until is not None and column in (side.column(WINDOW_START), side.column(WINDOW_END)):
            return side.span_us if column == side.column(WINDOW_START) else 0
        within = self.relations[position].lag_us(column) if side.joined and column in side.schema.names else None
        return None if within is None or side.span_us is None else within + side.span_us

    @property
    def newest_lag_us(self) -> int:
        """How far the newest time of an answer may lie behind the watermark."""
        return 0

    def describe_route(self, position: int) -> str:
        """Each side has its name."""
        return f"route {self.sides[position].name}: beside the source, only the columns that are needed"

    def describe_sides(self) -> str:
        """What is compared, and over which windows."""
        count = len(self.sides[0].keys)
        keys = " AND ".join(self._describe_key(number) for number in range(count))
        return f"{keys or 'all pairs'} over {self.describe_windows()}"

    def describe_windows(self) -> str:
        """The window of each side."""
        return ", ".join(f"{side.name} {side.describe_window()}" for side in self.sides)

    def _describe_key(self, number: int) -> str:
        ends = [side.column(self._meaning(i, side.keys[number])) for i, side in enumerate(self.sides)]
        return " = ".join(ends)

    def _meaning(self, position: int, column: str) -> str:
        """What a column of a side was computed from."""
        below = list_parts(self.relations[position])[0]
        assert isinstance(below, Project)
        return below.meaning(column)


@dataclass(frozen=True)
class Join(Sided):
    """Every combination of one row per side with equal keys, each in its own window as of the newest of them."""

    relations: tuple[Node, ...]
    sides: tuple[Side, ...]
    technique: str = "snjoin"
    limit: int = MOST_COMBINATIONS
    overload: Overload | None = None
    """What becomes of readings that are too many; if this is not given, all are kept."""
    needs_every_reading: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """A side has the columns of its relation, and keys like those of the others."""
        for relation, side in zip(self.relations, self.sides, strict=True):
            if relation.schema != side.schema:
                raise InputError(f"side {side.name!r} of a join does not have the columns of its relation")
        kinds = {tuple(side.schema.field(key).type for key in side.keys) for side in self.sides}
        if len(kinds) > 1:
            raise InputError("the keys of a join differ in type:", *sorted(str(kind) for kind in kinds))
        if self.overload is not None and self.needs_arrival_order:
            raise InputError("a join with LAST_ROWS keeps its rows in memory; it neither spills nor sheds")
        if self.shedding:
            self.shedding.check(self.technique)

    @property
    def needs_arrival_order(self) -> bool:
        """Whether some window counts rows."""
        return any(side.last_rows is not None for side in self.sides)

    @property
    def shedding(self) -> Shedding | None:
        """How it gives readings up, if it does."""
        return self.overload if isinstance(self.overload, Shedding) else None

    @property
    def schema(self) -> pa.Schema:
        """The columns of all sides, each behind its side's name."""
        return pa.schema([field for side in self.sides for field in side.fields])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """Nothing if rows are counted, which needs one order of arrival, or shed, which needs one budget."""
        return () if self.needs_arrival_order or self.shedding else super().bucket_keys(position)

    def time_of(self, position: int) -> str | None:
        """None where rows are counted."""
        return None if self.needs_arrival_order else super().time_of(position)

    def lag_us(self, column: str) -> int | None:
        """A combination is given when its last member comes; the others are older by their windows at the most.

        Where readings are kept on disk it is given when they are read back, and that may be later.
        """
        if isinstance(self.overload, Spilling):
            return None
        lags = [self.lag_of(position, column) for position in range(len(self.sides))]
        return next((lag for lag in lags if lag is not None), None)

    @property
    def no_time_reason(self) -> str:
        """Readings that are on disk are late."""
        return ", since they wait on disk (spill_to)" if isinstance(self.overload, Spilling) else ""

    def describe(self) -> str:
        """The technique, the keys, the windows, and what is done under overload."""
        overload = self.overload.describe() if self.overload else ""
        return f"Join ({self.technique}) {self.describe_sides()}{overload}"

    def describe_buckets(self) -> str:
        """Why all is in one bucket, or by what it is spread."""
        if self.needs_arrival_order:
            return "in one bucket, since LAST_ROWS needs one order of arrival"
        if self.shedding:
            return "in one bucket, since all readings share a budget"
        return self.describe_spread()

    def describe_state(self) -> str:
        """Readings."""
        return "the live readings within it" if self.shedding else "every live reading"
