"""Groups of rows over windows that know which samples to expect."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.time import Micros, describe_interval
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.aggregate import Grouping
from skerry.plan.fold import Fold
from skerry.plan.node import Node

__all__ = ["COMPLETENESS", "EXPECTED", "RECEIVED", "SampledAggregate"]

EXPECTED, RECEIVED, COMPLETENESS = "_expected", "_received", "_completeness"
"""The columns that say how many samples were expected, how many were received, and which share of them that is."""
_MEANINGS = {EXPECTED: "EXPECTED_SAMPLES()", RECEIVED: "RECEIVED_SAMPLES()", COMPLETENESS: "COMPLETENESS()"}


@dataclass(frozen=True)
class SampledAggregate(Grouping):
    """Groups over TUMBLE or HOP, with the samples expected and received in each window.

    The samples of a group are those of the sensors that it knows: ``sensor`` tells them apart. A sensor is known from
    its first reading in the group until it was silent for ``forget_us``. ``period_us`` is how often a sensor takes a
    sample, ``periods`` has those of single sensors. With ``silent_rows``, a window in which no known sensor of a group
    was heard has a row too.
    """

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]
    sensor: str
    period_us: Micros | None
    periods: tuple[tuple[str, Micros], ...]
    forget_us: Micros
    silent_rows: bool

    @property
    def schema(self) -> pa.Schema:
        """Window, keys, folds, samples."""
        samples = {EXPECTED: pa.int64(), RECEIVED: pa.int64(), COMPLETENESS: pa.float64()}
        return pa.schema([*super().schema, *(pa.field(name, type_) for name, type_ in samples.items())])

    @property
    def sensor_field(self) -> pa.Field:
        """The column that tells sensors apart."""
        return self.input.schema.field(self.sensor)

    @property
    def sample_folds(self) -> tuple[Fold, ...]:
        """What must be remembered of each sensor beside the folds: the times of its samples."""
        functions = {"count_distinct": "_samples", "min": "_first", "max": "_last"}
        return tuple(Fold(function, self.time, TIMESTAMP, name) for function, name in functions.items())

    def lag_us(self, column: str) -> int | None:
        """A row is given when its window has ended."""
        return {WINDOW_END: 0, WINDOW_START: self.window.size_us}.get(column)

    def describe(self) -> str:
        """The folds, the groups, the windows, and the samples."""
        often = f" every {describe_interval(self.period_us)}" if self.period_us else ""
        own = f", {len(self.periods)} sensors by the catalogue" if self.periods else ""
        silent = "; silent windows have rows" if self.silent_rows else ""
        return f"{super().describe()}; samples of each {self.sensor}{often}{own}{silent}"

    def describe_state(self) -> str:
        """Rows of readings folded together by sensor, and the sensors that are known."""
        known = f"one row per group and sensor heard in the last {describe_interval(self.forget_us)}"
        kept = self.describe_kept_values()
        return f"one row per slice, group and sensor with the times of its samples{kept}, and {known}"

    def meanings(self) -> dict[str, str]:
        """The columns of the projection below, the folds over them, and the samples."""
        return super().meanings() | _MEANINGS
