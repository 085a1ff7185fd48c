"""Groups of rows over sessions, folded."""

from dataclasses import dataclass
from typing import ClassVar

from skerry.model.session_window import SessionWindow
from skerry.model.window import WINDOW_END
from skerry.plan.aggregate import Grouping
from skerry.plan.fold import Fold
from skerry.plan.node import Node

__all__ = ["SessionAggregate"]


@dataclass(frozen=True)
class SessionAggregate(Grouping):
    """Groups over SESSION_WINDOW: one row per group and session."""

    input: Node
    window: SessionWindow
    time: str
    keys: tuple[str, ...]
    folds: tuple[Fold, ...]
    needs_every_reading: ClassVar[bool] = False

    def lag_us(self, column: str) -> int | None:
        """A row is given when its session is over; a session may have begun at any time before."""
        return 0 if column == WINDOW_END else None

    def describe_state(self) -> str:
        """Sessions that are not over."""
        return f"one row per group and open session{self.describe_kept_values()}"
