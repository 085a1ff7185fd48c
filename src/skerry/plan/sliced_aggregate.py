"""Groups over windows of several sizes at once: readings are folded into slices that all windows are made of."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import pyarrow as pa

from skerry.model.slices import Slices
from skerry.model.window import Window
from skerry.plan.aggregate import Grouping
from skerry.plan.fold import Fold
from skerry.plan.node import Node

__all__ = ["WINDOW_NUMBER", "SlicedAggregate"]

WINDOW_NUMBER = "_window"
"""The column that says which of the windows a row is of."""


@dataclass(frozen=True)
class SlicedAggregate(Grouping):
    """One row per window, of any of the ``windows``, and group, with the number of the window behind it.

    ``wanted`` names the folds that are wanted of each of the windows; the others are NULL there.
    """

    input: Node
    windows: tuple[Window, ...]
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]
    wanted: tuple[tuple[str, ...], ...]
    needs_every_reading: ClassVar[bool] = False

    @property
    def schema(self) -> pa.Schema:
        """Window, keys, folds, and the number of the window."""
        return super().schema.append(pa.field(WINDOW_NUMBER, pa.int64()))

    @cached_property
    def slices(self) -> Slices:
        """What readings are folded into."""
        return Slices.of(self.windows)

    def lag_us(self, column: str) -> int | None:
        """Views read each other before they are answered together: nothing reads this."""
        return None

    def describe_windows(self) -> str:
        """All windows, the shortest first."""
        ordered = sorted(self.windows, key=lambda window: (window.size_us, window.slide_us, window.offset_us))
        return ", ".join(window.describe() for window in ordered)

    def describe(self) -> str:
        """The folds, the groups and the windows."""
        folds = ", ".join(fold.name for fold in self.folds)
        return f"Aggregate {folds} by {', '.join((*self.keys, 'window'))} over {self.describe_windows()}"

    def describe_state(self) -> str:
        """Rows of readings folded together, once for all windows."""
        return f"one row per slice and group{self.describe_kept_values()}"
