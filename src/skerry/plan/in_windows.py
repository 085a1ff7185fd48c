"""Rows with the windows that they are in."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.plan.node import Node, Stateless

__all__ = ["InWindows"]

_ENDS = (WINDOW_START, WINDOW_END)


@dataclass(frozen=True)
class InWindows(Stateless):
    """Each row of the input once for every window that it is in, with the ends of the window as its last columns."""

    input: Node
    time: str
    window: Window

    @property
    def schema(self) -> pa.Schema:
        """The columns of the input, and the ends of the window in place of any that are called so."""
        ends = [pa.field(name, TIMESTAMP) for name in _ENDS]
        return pa.schema([*(field for field in self.input.schema if field.name not in _ENDS), *ends])

    def lag_us(self, column: str) -> int | None:
        """A window ends behind its rows. How far its start lies before them nobody waits for beside a source."""
        if column == WINDOW_END:
            return self.input.lag_us(self.time)
        return None if column == WINDOW_START else self.input.lag_us(column)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """Those, and the time."""
        return (wanted - {*_ENDS}) | {self.time}

    def describe(self) -> str:
        """The windows."""
        return f"Rows in each of their windows, {self.window.describe()}"
