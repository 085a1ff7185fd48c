"""The first rows of a relation, kept current (ORDER BY ... LIMIT of a view that gives changes)."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.changes import OP_FIELD, drop_op
from skerry.plan.node import Node, OneInput, Stateful
from skerry.plan.over import OrderKey

__all__ = ["TopRows"]


@dataclass(frozen=True)
class TopRows(OneInput, Stateful):
    """The first rows in some order, of each window if there is one; given when they come in and when they go out."""

    input: Node
    order: tuple[OrderKey, ...]
    limit: int
    offset: int = 0
    window: str | None = None
    """The column of time by which rows are parted."""
    needs_every_reading: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Rows that are taken back are found by their values."""
        nested = [field.name for field in self.input.schema if pa.types.is_nested(field.type)]
        if self.input.is_changing and nested:
            raise InputError(f"LIMIT over rows that can be taken back takes no lists or structs, got {nested[0]!r}")

    @property
    def schema(self) -> pa.Schema:
        """What becomes of the row, and the row."""
        return pa.schema([OP_FIELD, *drop_op(self.input.schema)])

    @property
    def is_changing(self) -> bool:
        """Rows go out."""
        return True

    @property
    def waits(self) -> bool:
        """Only windows are over at some time."""
        return self.window is not None

    def lag_us(self, column: str) -> int | None:
        """The first rows of a window change until it is over; without one, at any time."""
        return self.input.lag_us(column) if column == self.window else None

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """All rows are compared."""
        return ()

    def time_of(self, position: int) -> str | None:
        """That of the window."""
        return self.window

    def describe(self) -> str:
        """The order, and how many."""
        order = ", ".join(f"{key.column}{' DESC' if key.descending else ''}" for key in self.order)
        behind = f" behind {self.offset}" if self.offset else ""
        window = f" of each {self.window}" if self.window else ""
        return f"First {self.limit}{behind} by {order}{window}, kept current"

    def describe_buckets(self) -> str:
        """All rows meet."""
        return "in one bucket"

    def describe_state(self) -> str:
        """What may be among the first."""
        if self.input.is_changing:
            return "every row that may become one of the first"
        return f"{self.limit + self.offset} rows{' per window' if self.window else ''}"
