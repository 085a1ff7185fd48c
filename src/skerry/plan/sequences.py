"""Sequences of rows that match a pattern."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.model.expression import Columns
from skerry.model.time import Micros, describe_interval
from skerry.model.types import TIMESTAMP
from skerry.plan.node import Node, OneInput, Stateful
from skerry.plan.pattern import Pattern

__all__ = ["ANY", "Comparison", "Measure", "Previous", "Sequences"]

ANY = -1
"""In place of a symbol: a row of the match, whichever symbol it is."""


@dataclass(frozen=True)
class Previous:
    """A column of the row so many rows before, in its partition."""

    name: str
    column: str
    offset: int


@dataclass(frozen=True)
class Comparison:
    """A row of a symbol, compared with the first or last row of another symbol in the match; columns by name."""

    symbol: int
    operator: str
    """``=``, ``<>``, ``<``, ``<=``, ``>`` or ``>=``."""
    left: str
    right: str
    other: int
    is_first: bool = False


@dataclass(frozen=True)
class Measure:
    """What is given of a match: a function over the rows of a symbol, or of all."""

    name: str
    function: str
    """``first``, ``last``, ``count``, ``sum``, ``mean``, ``min``, ``max`` or ``symbol``, the name of the last one."""
    symbol: int
    column: str | None
    type: pa.DataType


@dataclass(frozen=True)
class Sequences(OneInput, Stateful):
    """One row per match of a pattern in the rows of a partition, in order of time.

    ``derived`` are columns over those of the input and ``previous``: the conditions of symbols, what is compared, what
    is measured. A match takes ``span_us`` at the most, if that is given. The next may start behind its last row, or
    behind its first.
    """

    input: Node
    time: str
    keys: tuple[str, ...]
    symbols: tuple[str, ...]
    pattern: Pattern
    text: str
    """The pattern as the user wrote it."""
    conditions: tuple[str | None, ...]
    """By symbol, the derived column that says which rows are it; None lets every row be it."""
    comparisons: tuple[Comparison, ...]
    previous: tuple[Previous, ...]
    derived: Columns
    measures: tuple[Measure, ...]
    span_us: Micros | None
    skips_to_next: bool = False

    needs_every_reading: ClassVar[bool] = True

    @property
    def schema(self) -> pa.Schema:
        """The partition, and what is measured."""
        fields = [self.input.schema.field(key) for key in self.keys]
        return pa.schema([*fields, *(pa.field(measure.name, measure.type) for measure in self.measures)])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The partition."""
        return self.keys

    def time_of(self, position: int) -> str | None:
        """The time of rows."""
        return self.time

    def lag_us(self, column: str) -> int | None:
        """A match is given at the latest when the watermark has passed its span."""
        measure = next((each for each in self.measures if each.name == column), None)
        if measure is None or measure.function not in ("first", "last") or measure.type != TIMESTAMP:
            return None
        source = dict(self.derived).get(measure.column or "")
        is_time = source is not None and source.column == self.time
        # Where a symbol may be missing its time is NULL, which is in no window.
        return self.span_us if is_time else None

    def describe(self) -> str:
        """The pattern."""
        span = f" within {describe_interval(self.span_us)}" if self.span_us is not None else ""
        then = "; the next may start with any row behind the first" if self.skips_to_next else ""
        return f"Sequences {self.text}{span}{then}"

    def describe_buckets(self) -> str:
        """By the partition."""
        return f"by {', '.join(self.keys) or 'no key, in one bucket'}"

    def describe_state(self) -> str:
        """Rows that may still start or belong to a match."""
        kept = "rows since the first start that is undecided, per partition"
        return f"{kept}, of {describe_interval(self.span_us)} at the most" if self.span_us is not None else kept
