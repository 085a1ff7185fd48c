"""The sensors that a group knows: heard in it, and not yet forgotten."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.time import END_OF_TIME, Micros
from skerry.model.window import Window
from skerry.operators.open_sessions import FIRST, LAST, OpenSessions
from skerry.operators.operator import StatePages
from skerry.operators.spread import Spread

__all__ = ["KnownSensors"]


class KnownSensors:
    """Which sensors a group knows in which windows. ``keys`` are those of the group, and the sensor last.

    A sensor is known in a window if it was heard in it, or within ``forget_us`` before its start. So its readings make
    sessions: two belong to one if the window between them, wherever it is laid, knows the sensor by one of them. That
    is so if they are at most ``forget_us`` and the window's size apart. A session from ``first`` to ``last`` is known
    in the windows that start in (first - size, last + forget_us]. State is a row per session that windows to come may
    ask for.
    """

    def __init__(self, window: Window, keys: Sequence[pa.Field], forget_us: int) -> None:
        self._window, self._sensor, self._forget_us = window, keys[-1].name, forget_us
        self._gap_us = forget_us + window.size_us
        self._sessions = OpenSessions(self._gap_us, keys)
        self.forgotten = 0
        """How many have been forgotten, each once per group."""
        self.changes, self.snapshot = self._sessions.changes, self._sessions.snapshot
        self.restore = self._sessions.restore

    def hear(self, batch: pa.RecordBatch, first: pa.Array, last: pa.Array) -> None:
        """Note partial rows of sensors, each with its first and last reading; who has no name is not known."""
        names = self._sessions.schema.names[2:]
        columns = [first.cast(pa.int64()), last.cast(pa.int64()), *(batch.column(name) for name in names)]
        heard = pa.RecordBatch.from_arrays(columns, schema=self._sessions.schema)
        nameless = heard.column(self._sensor).null_count
        self._sessions.add(heard.filter(heard.column(self._sensor).is_valid()) if nameless else heard)

    @property
    def rows(self) -> pa.RecordBatch:
        """All sessions: first, last, the keys of the group, the sensor."""
        return self._sessions.rows

    def intervals(self) -> tuple[Int64s, Int64s]:
        """For each session, the moments after and until which the windows start that know it."""
        first, last = (self.rows.column(name).to_numpy() for name in (FIRST, LAST))
        return first - self._window.size_us, last + self._forget_us

    def list_windows(self, after: int, until: int, most: int) -> tuple[Int64s | None, pa.Array]:
        """The starts in (after, until] of windows that know each session, and its index; None if they are too many."""
        lower, upper = self.intervals()
        origin_us, slide_us = self._window.origin_us, self._window.slide_us
        low = (np.maximum(lower, after) - origin_us) // slide_us + 1
        high = (np.minimum(upper, until) - origin_us) // slide_us
        counts = np.maximum(high - low + 1, 0)
        if float(counts.sum(dtype=np.float64)) > most:
            return None, pa.array([], pa.int64())
        index = np.repeat(np.arange(counts.size), counts)
        steps = np.arange(index.size) - np.repeat(np.cumsum(counts) - counts, counts)
        return (low[index] + steps) * slide_us + origin_us, pa.array(index)

    def forget(self, watermark: Micros) -> None:
        """Let go of those that no window to come asks for, and count them; at the end of time, of all."""
        over = self.rows.column(LAST).to_numpy() < watermark - self._gap_us
        if watermark < END_OF_TIME:
            self.forgotten += int(over.sum())
        else:
            over = np.ones_like(over)
        self._sessions.remove(over)

    def redistribute(self, states: Iterable[StatePages], spread: Spread) -> list[dict[str, bytes]]:
        """The sensors of all buckets, in the pages of other buckets."""
        return self._sessions.redistribute(states, spread)
