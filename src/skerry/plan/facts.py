"""How the rows of a relation are facts of a rule program."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.time import END_OF_TIME, START_OF_TIME

__all__ = ["TICK", "Facts"]

TICK = "#tick"
"""The column that says at which tick a fact begins to count."""


@dataclass(frozen=True)
class Facts:
    """How a stream's rows are facts of a base predicate."""

    predicate: str
    schema: pa.Schema
    columns: tuple[str, ...]
    """In the order of the predicate's."""
    time: str | None
    """When a fact begins to hold; without it, from the start."""
    window_us: int | None
    """For how long it holds."""

    def starts(self, batch: pa.RecordBatch) -> Int64s:
        """When each row begins to hold."""
        if self.time is None:
            return np.full(batch.num_rows, START_OF_TIME)
        return batch.column(self.time).view(pa.int64()).to_numpy()

    @property
    def stored_schema(self) -> pa.Schema:
        """The columns that are kept of a row."""
        return self.schema.append(pa.field(TICK, pa.int64()))

    def ends(self, starts: Int64s) -> Int64s:
        """The last moment at which each row holds."""
        return np.full(starts.size, END_OF_TIME) if self.window_us is None else starts + self.window_us

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as the engine wants them."""
        return batch.select(list(self.columns))
