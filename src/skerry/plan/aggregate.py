"""Groups of rows over windows, folded."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.fold import Fold
from skerry.plan.node import Node, Stateful
from skerry.plan.project import Project

__all__ = ["Aggregate", "Grouping"]


class Grouping(Stateful):
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
        needed = (self.time, *self.keys, *(fold.argument for fold in self.folds if fold.argument))
        missing = [name for name in needed if name not in known]
        if missing:
            raise InputError(f"an aggregate needs column {missing[0]!r}; its input has {', '.join(known)}")
        if self.input.schema.field(self.time).type != TIMESTAMP:
            raise InputError(f"a window needs a TIMESTAMP; {self.time!r} is", self.input.schema.field(self.time).type)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Self:
        """The same aggregate over another input."""
        (only,) = inputs
        return self.replace_fields(input=only)

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

    def describe_buckets(self) -> str:
        """By the keys of the groups."""
        return f"by {', '.join(self.keys) or 'no key, in one bucket'}"

    def describe_route(self, position: int) -> str:
        """Readings are folded before they are shuffled."""
        return "route: beside the source, partial aggregates before the shuffle"

    def meanings(self) -> dict[str, str]:
        """The columns of the projection below, and the folds over them."""
        assert isinstance(self.input, Project)
        found = {name: self.input.meaning(name) for name, _ in self.input.columns if name[0] == "_"}
        for fold in self.folds:
            found[fold.name] = f"{fold.function.upper()}({found.get(fold.argument or '', fold.argument or '*')})"
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
        return "one row a slice and group"
