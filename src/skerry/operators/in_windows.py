"""Rows repeated for each window that they are in."""

import numpy as np
import pyarrow as pa

from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.operators.operator import Operator

__all__ = ["InWindows"]


class InWindows(Operator):
    """Give each row once for every window that it is in, the earliest first. A row without a time is in none.

    Stateless; costs a copy of the row per window.

    >>> from skerry.model.time import Micros
    >>> hop = InWindows(pa.schema({"ts": pa.timestamp("us")}), "ts", Window(Micros(4), Micros(2)))
    >>> rows = hop.transition(pa.record_batch({"ts": pa.array([5], pa.timestamp("us"))}))
    >>> rows.column("window_start").cast(pa.int64()).to_pylist()
    [2, 4]
    """

    def __init__(self, schema: pa.Schema, time: str, window: Window) -> None:
        self._time, self._window = time, window
        self._names = [name for name in schema.names if name not in (WINDOW_START, WINDOW_END)]
        fields = [schema.field(name) for name in self._names]
        self.schema = pa.schema([*fields, *(pa.field(name, TIMESTAMP) for name in (WINDOW_START, WINDOW_END))])

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Repeat the rows."""
        times = batch.column(self._time)
        if times.null_count:
            batch = batch.filter(times.is_valid())
        size, slide, origin = self._window.size_us, self._window.slide_us, self._window.origin_us
        moments = batch.column(self._time).cast(pa.int64()).to_numpy() - origin
        last = moments // slide
        counts = last - (moments - size) // slide
        rows = np.repeat(np.arange(batch.num_rows), counts)
        position = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = (last[rows] - counts[rows] + 1 + position) * slide + origin
        taken = batch.select(self._names).take(pa.array(rows))
        ends = [pa.array(each).cast(TIMESTAMP) for each in (starts, starts + size)]
        return pa.RecordBatch.from_arrays([*taken.columns, *ends], schema=self.schema)
