"""One stream of a join, and the window laid over it."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.errors import OptionError
from skerry.model.arrays import Int64s
from skerry.model.time import END_OF_TIME, LAST_MOMENT, START_OF_TIME, describe_interval

__all__ = ["Side"]


@dataclass(frozen=True)
class Side:
    """One stream of a join. Its tuples are live for ``span_us``, or while they are among its ``last_rows``."""

    name: str
    """Its alias in the query."""
    schema: pa.Schema
    keys: tuple[str, ...]
    """As many on all sides, and of the same types."""
    time: str
    """The column of event time; it has no NULL."""
    span_us: int | None
    last_rows: int | None = None
    joined: bool = False
    """Whether its rows are combinations already: their columns have the names of their streams before them."""
    until: str | None = None
    """The column with the last moment at which a row may find a partner, where that is before ``span_us`` is over."""
    window: str = ""
    """The window as the query writes it, where it is not SLIDING."""

    def __post_init__(self) -> None:
        """A side has a window of one kind, and not an empty one."""
        if (self.span_us is None) == (self.last_rows is None):
            raise OptionError(f"{self.name} needs a window either of time or of rows")
        if (self.last_rows is not None and self.last_rows < 1) or (self.span_us is not None and self.span_us < 0):
            raise OptionError(f"the window of {self.name} is empty, got", self.last_rows or self.span_us or 0)

    @property
    def count(self) -> int:
        """How many rows are live, or 0 if time says so."""
        return self.last_rows or 0

    def column(self, name: str) -> str:
        """What one of its columns is called in the answers of a join.

        >>> Side("a", pa.schema([]), (), "ts", 5).column("ts")
        'a.ts'
        """
        return name if self.joined else f"{self.name}.{name}"

    @property
    def fields(self) -> list[pa.Field]:
        """Its columns as the answers of a join have them."""
        return [field.with_name(self.column(field.name)) for field in self.schema]

    def describe_window(self) -> str:
        """As a query writes it."""
        if self.window:
            return self.window
        return f"LAST_ROWS {self.last_rows}" if self.span_us is None else f"SLIDING {describe_interval(self.span_us)}"

    def moments(self, batch: pa.RecordBatch) -> tuple[Int64s, Int64s]:
        """When each row starts to be live, and the last moment at which it may be."""
        moments = batch.column(self.time).view(pa.int64()).to_numpy()
        starts = np.minimum(np.maximum(moments, START_OF_TIME), LAST_MOMENT)
        if self.span_us is None:
            return starts, np.full(starts.size, LAST_MOMENT)
        return starts, np.minimum(starts + min(self.span_us, END_OF_TIME), LAST_MOMENT)

    def last_moments(self, batch: pa.RecordBatch) -> Int64s:
        """The last moment at which a partner of each row may come."""
        _, ends = self.moments(batch)
        if self.until is None:
            return ends
        return np.minimum(ends, batch.column(self.until).view(pa.int64()).to_numpy())
