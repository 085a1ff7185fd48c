"""Readings of other sensors in place of those of silent ones."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.model.time import Micros, describe_interval
from skerry.plan.node import Node, OneInput, Stateful

__all__ = ["Fallback", "StandIns"]

_SHOWN = 3


@dataclass(frozen=True)
class StandIns:
    """A sensor, and those that stand in for it, the best first."""

    sensor: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class Fallback(OneInput, Stateful):
    """All readings, and for a sensor that is silent those of the best other one that is not, under its name.

    A sensor is silent at a time if it has had no reading for longer than its limit, until then and at it; before its
    first reading it counts as heard when the first of all readings came. ``taken_by``, if given, is a column more: the
    sensor that took the reading.
    """

    input: Node
    time: str
    sensor: str
    stand_ins: tuple[StandIns, ...]
    limits_us: tuple[tuple[str, Micros], ...]
    """How long each sensor that is named in ``stand_ins`` may be silent."""
    taken_by: str | None = None
    needs_every_reading: ClassVar[bool] = False

    @property
    def schema(self) -> pa.Schema:
        """That of the readings, with the sensor that took them if it is asked for."""
        more = [] if self.taken_by is None else [pa.field(self.taken_by, pa.string())]
        return pa.schema([*self.input.schema, *more])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """None: a sensor must meet those that stand in for it."""
        return ()

    def time_of(self, position: int) -> str | None:
        """The time of readings."""
        return self.time

    def lag_us(self, column: str) -> int | None:
        """A reading is given when the watermark has passed it."""
        return self.input.lag_us(column) if column == self.time else None

    def describe(self) -> str:
        """Who stands in for whom."""
        shown = [f"{each.sensor} by {', '.join(each.others)}" for each in self.stand_ins[:_SHOWN]]
        more = len(self.stand_ins) - len(shown)
        limits = sorted({limit for name, limit in self.limits_us if any(name == s.sensor for s in self.stand_ins)})
        spans = [describe_interval(limit) for limit in dict.fromkeys((limits[0], limits[-1]))]
        whom = "; ".join(shown) + (f"; and {more} more" if more else "")
        return f"Fallback for sensors silent for {' to '.join(spans)}: {whom}"

    def describe_buckets(self) -> str:
        """One for all."""
        return "in one bucket: sensors meet those that stand in for them"

    def describe_state(self) -> str:
        """Readings on their way, and who was heard."""
        return "readings until the watermark passes them, and when each of these sensors was heard last"
