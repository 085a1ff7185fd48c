"""Aggregates over sessions, in two halves: a batch folded into short sessions, and these merged until they are over."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.group import Groups
from skerry.kernels.folds.sessions import number_sessions
from skerry.model.arrays import Int32s, Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.session_window import SessionWindow
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START
from skerry.operators.accumulators import Accumulator
from skerry.operators.folds import finish
from skerry.operators.grouping import buckets, canonical, group_rows
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.partial_aggregate import accumulators_of, fold_groups
from skerry.operators.spread import Spread
from skerry.plan.fold import Fold

__all__ = ["FIRST", "LAST", "PartialSessions", "SessionAggregate"]

FIRST, LAST = "session_first", "session_last"
"""The columns of partial rows that hold the moments of a session's first and last reading so far."""

_CLOCK = "clock"
_PAGES = 64
"""Over so many pages open sessions are spread, by their keys: those that did not change are not written again."""


def _partial_schema(keys: Sequence[pa.Field], accumulators: Sequence[Accumulator]) -> pa.Schema:
    ends = [pa.field(FIRST, pa.int64()), pa.field(LAST, pa.int64())]
    return pa.schema([*ends, *keys, *(pa.field(each.name, each.type) for each in accumulators)])


def _find_sessions(
    keys: Sequence[pa.Array], firsts: Int64s, lasts: Int64s, gap_us: int
) -> tuple[Groups, Int64s, Int64s]:
    """The sessions that rows make up, each with its first and last moment. A row may span some time itself."""
    groups = group_rows(keys, firsts.size).numbers if keys else np.zeros(firsts.size, np.int64)
    order = np.lexsort((firsts, groups))
    sorted_numbers = number_sessions(groups[order], firsts[order], lasts[order], gap_us)
    numbers = np.empty_like(sorted_numbers)
    numbers[order] = sorted_numbers
    begins = np.flatnonzero(np.diff(sorted_numbers, prepend=-1))
    first = order[begins]
    return Groups(numbers, first), firsts[first], np.maximum.reduceat(lasts[order], begins)


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
        self.schema = _partial_schema(self._keys, self._accumulators)

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Fold the batch."""
        times = batch.column(self._time)
        if times.null_count:  # no time, no session
            return self.transition(batch.filter(times.is_valid()))
        if batch.num_rows == 0:
            return empty(self.schema)
        moments = times.cast(pa.int64()).to_numpy()
        keys = [batch.column(key.name) for key in self._keys]
        groups, firsts, lasts = _find_sessions(keys, moments, moments, self._gap_us)
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
        self._partial_schema = _partial_schema(self._keys, self._accumulators)
        times = [pa.field(WINDOW_START, TIMESTAMP), pa.field(WINDOW_END, TIMESTAMP)]
        self.schema = pa.schema([*times, *self._keys, *(pa.field(fold.name, fold.type) for fold in self._folds)])
        self._open = empty(self._partial_schema)
        self._fresh: list[pa.RecordBatch] = []
        self._changed_pages: set[int] = set()
        self._saved_pages: set[str] = set()
        self._closed: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take partial sessions in."""
        if batch.num_rows:
            self._fresh.append(batch)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Close the sessions that end before ``watermark``."""
        if watermark <= self._closed:
            return empty(self.schema)
        self._closed = watermark
        self._merge_fresh()
        over = self._open.column(LAST).to_numpy() < watermark - self._gap_us
        if watermark == END_OF_TIME:
            over = np.ones_like(over)
        closing = self._open.filter(pa.array(over))
        if not closing.num_rows:
            return empty(self.schema)
        self._note_changed(closing)
        self._open = self._open.filter(pa.array(~over))
        return self._finish(closing)

    def changes(self) -> PageChanges:
        """The pages in which sessions have come, grown or ended."""
        self._merge_fresh()
        pages = self._pack_pages(self._changed_pages, self._open)
        gone = sorted((self._saved_pages & {str(page) for page in self._changed_pages}) - pages.keys())
        self._saved_pages = (self._saved_pages | pages.keys()) - set(gone)
        self._changed_pages = set()
        return PageChanges({**pages, _CLOCK: str(self._closed).encode()}, gone)

    def snapshot(self) -> StatePages:
        """All open sessions."""
        self._merge_fresh()
        return {**self._pack_pages(range(_PAGES), self._open), _CLOCK: str(self._closed).encode()}

    def restore(self, pages: StatePages) -> None:
        """Take open sessions over."""
        self._saved_pages = set(pages) - {_CLOCK}
        self._open = join([unpack(pages[name]) for name in sorted(self._saved_pages, key=int)], self._partial_schema)
        self._closed = Micros(int(pages[_CLOCK])) if _CLOCK in pages else START_OF_TIME

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All open sessions, in the pages of their buckets."""
        pages = [unpack(state[name]) for state in states for name in sorted(state.keys() - {_CLOCK}, key=int)]
        clock = {_CLOCK: max((state[_CLOCK] for state in states), key=int)}
        parts = spread.split(join(pages, self._partial_schema))
        return [{**self._pack_pages(range(_PAGES), rows), **clock} for rows in parts]

    def _merge_fresh(self) -> None:
        """Let what has come extend, join or begin sessions."""
        if not self._fresh:
            return
        fresh, self._fresh = join(self._fresh, self._partial_schema), []
        self._note_changed(fresh)
        rows = join([self._open, fresh], self._partial_schema)
        keys = [rows.column(key.name) for key in self._keys]
        firsts, lasts = (rows.column(name).to_numpy() for name in (FIRST, LAST))
        groups, firsts, lasts = _find_sessions(keys, firsts, lasts, self._gap_us)
        chosen = pa.array(groups.first)
        heads = [pa.array(firsts), pa.array(lasts), *(key.take(chosen) for key in keys)]
        columns = [each.merge(rows.column(each.name), groups) for each in self._accumulators]
        self._open = pa.RecordBatch.from_arrays([*heads, *columns], schema=self._partial_schema)

    def _finish(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        names = [FIRST, *(key.name for key in self._keys)]
        rows = rows.take(pc.sort_indices(rows, [(name, "ascending") for name in names]))
        times = [rows.column(FIRST).cast(TIMESTAMP), pc.add(rows.column(LAST), self._gap_us).cast(TIMESTAMP)]
        remembered = {each.name: rows.column(each.name) for each in self._accumulators}
        keys = [rows.column(key.name) for key in self._keys]
        return pa.RecordBatch.from_arrays(
            [*times, *keys, *(finish(fold, remembered) for fold in self._folds)], schema=self.schema
        )

    def _pages_of(self, rows: pa.RecordBatch) -> Int32s | Int64s:
        if not self._keys:
            return np.zeros(rows.num_rows, np.int64)
        return buckets([rows.column(key.name) for key in self._keys], rows.num_rows, _PAGES)

    def _note_changed(self, rows: pa.RecordBatch) -> None:
        self._changed_pages.update(np.unique(self._pages_of(rows)).tolist())

    def _pack_pages(self, wanted: Sequence[int] | set[int] | range, sessions: pa.RecordBatch) -> dict[str, bytes]:
        """The sessions of some pages, by the names of the pages that have any."""
        pages = self._pages_of(sessions)
        found = {page: np.flatnonzero(pages == page) for page in sorted(wanted)}
        return {str(page): pack(sessions.take(pa.array(rows))) for page, rows in found.items() if rows.size}
