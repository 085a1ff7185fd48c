"""Windows that begin at a moment and grow from there."""

from dataclasses import dataclass

from skerry.model.time import Micros, show
from skerry.model.window import WINDOW_START, GroupWindow

__all__ = ["Landmark"]


@dataclass(frozen=True)
class Landmark(GroupWindow):
    """All readings from ``start_us`` on. It ends when the input does.

    >>> Landmark(Micros(0)).describe()
    'LANDMARK from 1970-01-01 00:00:00'
    """

    start_us: Micros

    def describe(self) -> str:
        """As a query writes it."""
        return f"LANDMARK from {show(self.start_us)}"

    @property
    def columns(self) -> tuple[str, ...]:
        """Its start; it has no end."""
        return (WINDOW_START,)

    @property
    def only_groups(self) -> str:
        """It is all one window."""
        return "LANDMARK has no end"
