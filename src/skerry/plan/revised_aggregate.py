"""Groups that are given anew at every change, and groups without an end."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.changes import OP_FIELD
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, GroupWindow, Window
from skerry.plan.aggregate import Grouping
from skerry.plan.fold import Fold, Method
from skerry.plan.node import Node
from skerry.plan.session_aggregate import SessionAggregate

__all__ = ["RevisedAggregate", "RevisedSessions"]


@dataclass(frozen=True)
class RevisedAggregate(Grouping):
    """One row per group, and per window of TUMBLE or HOP if there is one; of LANDMARK, from its start on.

    ``is_signed``: the rows below come and go. ``gives_changes``: a row is given at every change, behind ``_op``; if
    not, when its window, or the input, is over.
    """

    input: Node
    window: GroupWindow | None
    time: str | None  # type: ignore[assignment]
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]
    is_signed: bool = False
    gives_changes: bool = True
    needs_every_reading: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Without a window the rows need no time."""
        if self.time is not None:
            super().__post_init__()
        nested = [name for fold in self.folds if self.is_signed for name in fold.columns if self._is_nested(name)]
        if nested:
            raise InputError(f"aggregates over rows that can be taken back take no lists or structs, got {nested[0]!r}")

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, the window, keys, folds."""
        times = [pa.field(name, TIMESTAMP) for name in (self.window.columns if self.window else ())]
        fields = [*times, *self.key_fields, *(pa.field(fold.name, fold.type) for fold in self.folds)]
        return pa.schema([OP_FIELD, *fields] if self.gives_changes else fields)

    @property
    def is_changing(self) -> bool:
        """Whether rows are given that can be taken back."""
        return self.gives_changes

    @property
    def is_endless(self) -> bool:
        """Whether groups are kept for ever."""
        return not isinstance(self.window, Window)

    @property
    def waits(self) -> bool:
        """Only windows are over at some time."""
        return not self.is_endless

    def lag_us(self, column: str) -> int | None:
        """A window is revised until it is over."""
        if not isinstance(self.window, Window):
            return None
        return {WINDOW_END: 0, WINDOW_START: self.window.size_us}.get(column)

    def time_of(self, position: int) -> str | None:
        """The time that windows go by."""
        return None if self.is_endless else self.time

    def describe(self) -> str:
        """The folds, the groups, the windows, and when rows are given."""
        folds = f" {', '.join(fold.name for fold in self.folds)}" if self.folds else ""
        window = f" over {self.window.describe()}" if self.window else ""
        by = ", ".join((*self.keys, *(["window"] if self.window else [])))
        given = "given anew at every change" if self.gives_changes else "given when it is over"
        return f"Aggregate{folds}{f' by {by}' if by else ''}{window}, {given}"

    def describe_state(self) -> str:
        """Groups, and values where these are needed."""
        kept = [fold.function.upper() for fold in self.folds if self.keeps_values(fold)]
        values = f", with all values for {', '.join(dict.fromkeys(kept))}" if kept else ""
        if isinstance(self.window, Window):
            return f"one row per window and group{values}"
        grows = ", which grows with the number of groups" if self.keys else ""
        return f"one row per group{values}, for ever{grows}"

    def keeps_values(self, fold: Fold) -> bool:
        """Whether what a fold remembers grows with the rows of a group."""
        if fold.method in (Method.COLLECTED, Method.DISTINCT) or fold.function == "count_distinct":
            return True
        of_rows = fold.method in (Method.CHOSEN, Method.SKETCHED)
        return self.is_signed and (of_rows or fold.function in ("min", "max", "bool_and", "bool_or"))

    def _is_nested(self, column: str) -> bool:
        return pa.types.is_nested(self.input.schema.field(column).type)


@dataclass(frozen=True)
class RevisedSessions(SessionAggregate):
    """One row per group and session, given anew whenever it grows."""

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, the session, keys, folds."""
        return pa.schema([OP_FIELD, *super().schema])

    @property
    def is_changing(self) -> bool:
        """Rows can be taken back."""
        return True

    def describe(self) -> str:
        """The folds, the groups and the gap."""
        return f"{super().describe()}, given anew at every change"
