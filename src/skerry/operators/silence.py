"""Silence as an event: a row when a sensor that was heard has not been heard for a while."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.operators.grouping import group_rows
from skerry.operators.open_sessions import FIRST, LAST, OpenSessions
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread

__all__ = ["Silence"]

_CLOCK = "clock"


class Silence(Operator):
    """Give ``last_ts`` and ``ts = last_ts + gap`` of a sensor when the watermark has passed ``ts`` without a reading.

    A reading exactly the gap after the one before is in time. A silence is given once, and follows from the event times
    of the readings alone. Where the input ends, it is known to be silence only until the newest reading of the stream
    (``note_end``); a sensor that was heard within the gap before that is not silent.

    With ``returns``, a row with ``until`` is given too when the sensor is heard again, unless it was silent for longer
    than ``forget_us``: such a sensor is forgotten, and counted. State is a row per sensor, from its last reading until
    it is silent, or until it is back. Takes the partial sessions of ``PartialSessions``, whose gap is this one.

    >>> silence = Silence([pa.field("sensor", pa.string())], 30)
    >>> heard = [pa.array([0, 90]), pa.array([10, 90]), pa.array(["a", "a"])]
    >>> _ = silence.transition(pa.RecordBatch.from_arrays(heard, [FIRST, LAST, "sensor"]))
    >>> silence.advance(Micros(40)).num_rows, silence.advance(Micros(41)).num_rows
    (0, 1)
    """

    def __init__(
        self, keys: Sequence[pa.Field], gap_us: int, *, returns: bool = False, forget_us: int = END_OF_TIME
    ) -> None:
        self._keys, self._gap_us, self._returns, self._forget_us = tuple(keys), gap_us, returns, forget_us
        times = ["last_ts", "ts", *(["until"] if returns else [])]
        self.schema = pa.schema([*keys, *(pa.field(name, TIMESTAMP) for name in times)])
        self._sessions = OpenSessions(gap_us, self._keys)
        self._closed: Micros = START_OF_TIME
        self._end: Micros = END_OF_TIME
        self._forgotten = 0

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial sessions in."""
        self._sessions.add(batch)
        return empty(self.schema)

    def note_end(self, newest: Micros) -> None:
        """There is no silence behind the newest reading of the stream."""
        self._end = newest

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Give the silences that have lasted the gap before ``watermark``, and the returns before it."""
        if watermark <= self._closed:
            return empty(self.schema)
        rows = self._sessions.rows
        firsts, lasts = (rows.column(name).to_numpy() for name in (FIRST, LAST))
        silent_at = lasts + self._gap_us
        reached = Micros(min(watermark, self._end + 1))
        given = [self._as_batch(rows, silent_at >= self._closed, silent_at < reached, lasts, silent_at)]
        back = np.zeros(lasts.size, np.bool_)
        if self._returns:
            back, returned = self._find_returns(rows, firsts, lasts, watermark)
            given.append(returned)
        self._forget(lasts, silent_at, back, watermark)
        self._closed = watermark
        return self._in_order(join(given, self.schema))

    def changes(self) -> PageChanges:
        """The pages in which sensors were heard, fell silent or came back."""
        changes = self._sessions.changes()
        return PageChanges({**changes.put, **self._clock()}, changes.drop)

    def snapshot(self) -> StatePages:
        """All sensors that may fall silent or come back."""
        return {**self._sessions.snapshot(), **self._clock()}

    def restore(self, pages: StatePages) -> None:
        """Take sensors over."""
        self._sessions.restore({name: blob for name, blob in pages.items() if name != _CLOCK})
        self._closed = Micros(int(pages[_CLOCK])) if _CLOCK in pages else START_OF_TIME

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All sensors, in the pages of their buckets."""
        pages = [{name: blob for name, blob in state.items() if name != _CLOCK} for state in states]
        clock = {_CLOCK: max((state[_CLOCK] for state in states), key=int)}
        return [{**found, **clock} for found in self._sessions.redistribute(pages, spread)]

    def figures(self) -> Mapping[str, int]:
        """How many sensors did not come back in time to be remembered."""
        return {"sensors_forgotten": self._forgotten} if self._forgotten else {}

    def _clock(self) -> StatePages:
        return {_CLOCK: str(self._closed).encode()}

    def _find_returns(
        self, rows: pa.RecordBatch, firsts: Int64s, lasts: Int64s, watermark: Micros
    ) -> tuple[Bools, pa.RecordBatch]:
        """Which sessions are followed by one that has certainly begun, and the rows of those that begin now."""
        groups = group_rows([rows.column(key.name) for key in self._keys], rows.num_rows).numbers
        order = np.lexsort((firsts, groups))
        before, after = order[:-1], order[1:]
        follows = (groups[before] == groups[after]) & (firsts[after] < watermark)
        before, after = before[follows], after[follows]
        back = np.zeros(lasts.size, np.bool_)
        back[before] = True
        chosen = (firsts[after] >= self._closed) & (firsts[after] - lasts[before] <= self._forget_us)
        heard = firsts[after]
        found = rows.take(pa.array(before))
        return back, self._as_batch(found, chosen, chosen, lasts[before], heard, heard)

    def _forget(self, lasts: Int64s, silent_at: Int64s, back: Bools, watermark: Micros) -> None:
        """Let go of sensors of which nothing more can be said."""
        if watermark >= END_OF_TIME:
            self._sessions.remove(np.ones(lasts.size, np.bool_))
            return
        over = silent_at < watermark
        if self._returns:
            lost = over & ~back & (watermark - lasts > self._forget_us)
            self._forgotten += int(lost.sum())
            over = over & back | lost
        self._sessions.remove(over)

    def _as_batch(
        self, rows: pa.RecordBatch, since: Bools, before: Bools, lasts: Int64s, at: Int64s, until: Int64s | None = None
    ) -> pa.RecordBatch:
        """The rows that are marked twice, with their times."""
        chosen = np.flatnonzero(since & before)
        keys = [rows.column(key.name).take(pa.array(chosen)) for key in self._keys]
        times = [pa.array(each[chosen]).cast(TIMESTAMP) for each in (lasts, at)]
        if self._returns:
            times.append(pa.nulls(chosen.size, TIMESTAMP) if until is None else pa.array(until[chosen]).cast(TIMESTAMP))
        return pa.RecordBatch.from_arrays([*keys, *times], schema=self.schema)

    def _in_order(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """By time and sensor, so that the order of arrival does not show."""
        names = ["ts", *(key.name for key in self._keys), "last_ts"]
        return rows.take(pc.sort_indices(rows, [(name, "ascending") for name in names]))
