"""Groups of rows over windows, folded."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.fold import Fold, Method
from skerry.plan.node import Node, OneInput, Stateful
from skerry.plan.project import Project
from skerry.plan.union import list_parts

__all__ = ["Aggregate", "Grouping"]


class Grouping(OneInput, Stateful):
    """One row per window and group: window_start, window_end, the keys, the folds.

    What every aggregate over windows has in common, whatever its windows are.
    """

    input: Node
    window: Any
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]

    partial: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Time, keys and arguments must be columns of the input."""
        known = self.input.schema.names
        needed = (self.time, *self.keys, *(name for fold in self.folds for name in fold.columns))
        missing = [name for name in needed if name not in known]
        if missing:
            raise InputError(f"an aggregate needs column {missing[0]!r}; its input has {', '.join(known)}")
        if self.input.schema.field(self.time).type != TIMESTAMP:
            raise InputError(f"a window needs a TIMESTAMP; {self.time!r} is", self.input.schema.field(self.time).type)

    @property
    def key_fields(self) -> tuple[pa.Field, ...]:
        """The keys with their types."""
        return tuple(self.input.schema.field(key) for key in self.keys)

    @property
    def schema(self) -> pa.Schema:
        """Window, keys, folds."""
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        return pa.schema([*times, *self.key_fields, *(pa.field(fold.name, fold.type) for fold in self.folds)])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The keys of the groups."""
        return self.keys

    def time_of(self, position: int) -> str | None:
        """The time that windows go by."""
        return self.time

    def describe(self) -> str:
        """The folds, the groups and the windows."""
        folds = ", ".join(fold.name for fold in self.folds)
        return f"Aggregate {folds} by {', '.join((*self.keys, 'window'))} over {self.window.describe()}"

    def describe_kept_values(self) -> str:
        """The folds that need all values until a window is over."""
        kept = [fold.function.upper() for fold in self.folds if fold.method in (Method.COLLECTED, Method.DISTINCT)]
        return f", with all values for {', '.join(dict.fromkeys(kept))}" if kept else ""

    def describe_buckets(self) -> str:
        """By the keys of the groups."""
        return f"by {', '.join(self.keys) or 'no key, in one bucket'}"

    def describe_route(self, position: int) -> str:
        """Readings are folded before they are shuffled."""
        return "route: beside the source, partial aggregates before the shuffle"

    def meanings(self) -> dict[str, str]:
        """The columns of the projection below, and the folds over them."""
        below = list_parts(self.input)[0]
        assert isinstance(below, Project)
        found = {name: below.meaning(name) for name, _ in below.columns if name[0] == "_"}
        for fold in self.folds:
            found[fold.name] = fold.describe(lambda name: found.get(name, name))
        return found


@dataclass(frozen=True)
class Aggregate(Grouping):
    """Groups over TUMBLE or HOP."""

    input: Node
    window: Window
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]
    needs_every_reading: ClassVar[bool] = False

    def lag_us(self, column: str) -> int | None:
        """A row is given when its window has ended."""
        return {WINDOW_END: 0, WINDOW_START: self.window.size_us}.get(column)

    def describe_state(self) -> str:
        """Rows of readings folded together."""
        return f"one row a slice and group{self.describe_kept_values()}"
