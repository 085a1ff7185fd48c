"""Aggregates over sessions, in two halves: a batch folded into short sessions, and these merged until they are over."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.model.batch import empty
from skerry.model.session_window import SessionWindow
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.operators.folds import finish
from skerry.operators.grouping import canonical
from skerry.operators.open_sessions import FIRST, LAST, OpenSessions, find_sessions, session_schema
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import accumulators_of, fold_groups
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["PartialSessions", "SessionAggregate"]

_CLOCK = "clock"


class PartialSessions(Operator):
    """Fold readings into one row per group and session, as far as one batch tells. Stateless: costs a sort.

    >>> fold = Fold("count", None, None, "n")
    >>> partial = PartialSessions(SessionWindow(Micros(5)), "ts", [], [fold])
    >>> batch = pa.record_batch({"ts": pa.array([1, 20, 4], pa.timestamp("us"))})
    >>> partial.transition(batch).to_pydict()
    {'session_first': [1, 20], 'session_last': [4, 20], 'count(*)': [2, 1]}
    """

    def __init__(self, window: SessionWindow, time: str, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        self._gap_us, self._time, self._keys = window.gap_us, time, tuple(keys)
        self._accumulators = accumulators_of(folds)
        self.schema = session_schema(self._keys, self._accumulators)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Fold the batch."""
        times = batch.column(self._time)
        if times.null_count:  # no time, no session
            return self.transition(batch.filter(times.is_valid()))
        if batch.num_rows == 0:
            return empty(self.schema)
        moments = times.cast(pa.int64()).to_numpy()
        keys = [batch.column(key.name) for key in self._keys]
        groups, firsts, lasts = find_sessions(keys, moments, moments, self._gap_us)
        chosen = pa.array(groups.first)
        heads = [pa.array(firsts), pa.array(lasts), *(canonical(key.take(chosen)) for key in keys)]
        columns = fold_groups(self._accumulators, batch, groups)
        return pa.RecordBatch.from_arrays([*heads, *columns], schema=self.schema)


class SessionAggregate(Operator):
    """Give one row per group and session when the watermark has passed the end of the session.

    A session is over when the watermark is more than the gap after its last reading: a reading that is in time belongs
    to another one then. State is a row for each open session, in pages by the hash of its keys; a save writes the pages
    that changed. Readings behind the watermark must not be given to it. Rows come out ordered by the start of the
    session and the keys, so that the answer does not depend on the order of arrival. Costs a sort of the open sessions
    per step.
    """

    def __init__(self, window: SessionWindow, keys: Sequence[pa.Field], folds: Sequence[Fold]) -> None:
        self._gap_us, self._keys, self._folds = window.gap_us, tuple(keys), tuple(folds)
        self._accumulators = accumulators_of(folds)
        self._sessions = OpenSessions(self._gap_us, self._keys, self._accumulators)
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        self.schema = pa.schema([*times, *self._keys, *(pa.field(fold.name, fold.type) for fold in self._folds)])
        self._answer_schema = self.schema
        self._closed: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial sessions in."""
        self._sessions.add(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the sessions that end before ``watermark``."""
        closing = self.close(watermark)
        return self.finish(closing) if closing.num_rows else empty(self.schema)

    def close(self, watermark: Micros) -> pa.RecordBatch:
        """Take the sessions out that end before ``watermark``."""
        if watermark <= self._closed:
            return empty(self._sessions.schema)
        self._closed = watermark
        over = self._sessions.rows.column(LAST).to_numpy() < watermark - self._gap_us
        return self._sessions.remove(over if watermark < END_OF_TIME else np.ones_like(over))

    def changes(self) -> PageChanges:
        """The pages in which sessions have come, grown or ended."""
        changes = self._sessions.changes()
        return PageChanges({**changes.put, _CLOCK: str(self._closed).encode()}, changes.drop)

    def snapshot(self) -> StatePages:
        """All open sessions."""
        return {**self._sessions.snapshot(), _CLOCK: str(self._closed).encode()}

    def restore(self, pages: StatePages) -> None:
        """Take open sessions over."""
        self._sessions.restore({name: blob for name, blob in pages.items() if name != _CLOCK})
        self._closed = Micros(int(pages[_CLOCK])) if _CLOCK in pages else START_OF_TIME

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """All open sessions, in the pages of their buckets."""
        pages = [{name: blob for name, blob in state.items() if name != _CLOCK} for state in states]
        clock = {_CLOCK: max((state[_CLOCK] for state in states), key=int)}
        return [{**found, **clock} for found in self._sessions.redistribute(pages, spread)]

    def finish(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The answers of sessions, in order."""
        names = [FIRST, *(key.name for key in self._keys)]
        rows = rows.take(pc.sort_indices(rows, [(name, "ascending") for name in names]))
        times = [rows.column(FIRST).cast(TIMESTAMP), pc.add(rows.column(LAST), self._gap_us).cast(TIMESTAMP)]
        remembered = {each.name: rows.column(each.name) for each in self._accumulators}
        keys = [rows.column(key.name) for key in self._keys]
        return pa.RecordBatch.from_arrays(
            [*times, *keys, *(finish(fold, remembered) for fold in self._folds)], schema=self._answer_schema
        )
