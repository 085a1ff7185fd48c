"""Joins of variable arity."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.model.time import Micros, describe_interval
from skerry.model.types import TIMESTAMP
from skerry.plan.join import MOST_COMBINATIONS
from skerry.plan.node import ManyInputs, Node

__all__ = ["Gather"]


@dataclass(frozen=True)
class Gather(ManyInputs):
    """For each reading those of other sensors that came before it with the same key: a join of variable arity.

    All relations have the same columns.
    """

    relations: tuple[Node, ...]
    key: str
    sensor: str
    time: str
    span_us: Micros
    min_arity: int = 1
    early: bool = False
    flatten: bool = False
    limit: int = MOST_COMBINATIONS
    needs_every_reading: ClassVar[bool] = False

    @property
    def schema(self) -> pa.Schema:
        """The key, the sensor and time of the reading, how many sensors agree, and all of them."""
        key, sensor = (self.relations[0].schema.field(name).type for name in (self.key, self.sensor))
        member = pa.struct([("sensor", sensor), ("ts", TIMESTAMP)])
        return pa.schema(
            {"key": key, "sensor": sensor, "ts": TIMESTAMP, "arity": pa.int32(), "members": pa.list_(member)}
        )

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The key that sensors agree on."""
        return (self.key,)

    def compared_keys(self, position: int) -> tuple[str, ...]:
        """The key that sensors agree on."""
        return (self.key,)

    def time_of(self, position: int) -> str | None:
        """The time of readings."""
        return self.time

    def lag_us(self, column: str) -> int | None:
        """An answer is given when the watermark passes its reading."""
        return 0 if column == "ts" else None

    def describe(self) -> str:
        """The span, the arity, and the form of answers."""
        form = "one row a combination" if self.flatten else "factorised"
        moment = "on arrival, amended later" if self.early else "when the watermark passes"
        span = describe_interval(self.span_us)
        return f"Gather by key within {span}, {self.min_arity} sensors or more, {form}, {moment}"

    def describe_buckets(self) -> str:
        """By the key."""
        return "by key"

    def describe_state(self) -> str:
        """Readings."""
        return "every reading for its span"
