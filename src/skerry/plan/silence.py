"""Sensors that fall silent, as events."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.model.time import Micros, describe_interval
from skerry.model.types import TIMESTAMP
from skerry.plan.node import Node, OneInput, Stateful

__all__ = ["LAST_TS", "TS", "UNTIL", "Silence"]

LAST_TS, TS, UNTIL = "last_ts", "ts", "until"
"""The columns of an event: the last reading, the moment it is about, and when the sensor was heard again."""


@dataclass(frozen=True)
class Silence(OneInput, Stateful):
    """One row when a sensor has not been heard for ``gap_us``; with ``returns``, one more when it is heard again.

    ``keys`` tell sensors apart; without any the whole stream is one.
    """

    input: Node
    time: str
    keys: tuple[str, ...]
    gap_us: Micros
    returns: bool
    forget_us: Micros

    partial: ClassVar[bool] = True

    @property
    def key_fields(self) -> tuple[pa.Field, ...]:
        """The keys with their types."""
        return tuple(self.input.schema.field(key) for key in self.keys)

    @property
    def schema(self) -> pa.Schema:
        """The sensor and the times of the event."""
        times = (LAST_TS, TS, UNTIL) if self.returns else (LAST_TS, TS)
        return pa.schema([*self.key_fields, *(pa.field(name, TIMESTAMP) for name in times)])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The sensor."""
        return self.keys

    def time_of(self, position: int) -> str | None:
        """The time of readings."""
        return self.time

    def lag_us(self, column: str) -> int | None:
        """An event is given when the watermark has passed it; a sensor that is back may have been away for long."""
        if column == LAST_TS:
            return None if self.returns else self.gap_us
        return 0 if column == TS else None

    def describe(self) -> str:
        """The gap, and which events there are."""
        who = ", ".join(self.keys) or "the whole stream"
        returns = f", and when heard again within {describe_interval(self.forget_us)}" if self.returns else ""
        return f"Silence of {who} for {describe_interval(self.gap_us)}{returns}"

    def describe_buckets(self) -> str:
        """By the sensor."""
        return f"by {', '.join(self.keys) or 'no key, in one bucket'}"

    def describe_state(self) -> str:
        """The last reading of sensors."""
        span = max(self.gap_us, self.forget_us) if self.returns else self.gap_us
        return f"one row per sensor heard in the last {describe_interval(span)}"

    def describe_route(self, position: int) -> str:
        """Readings are folded before they are shuffled."""
        return "route: beside the source, the first and last reading of each sensor before the shuffle"
