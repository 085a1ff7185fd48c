"""Sessions that may still grow: the state of whatever goes by how long a group was quiet."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from skerry.kernels.folds.group import Groups
from skerry.kernels.folds.sessions import number_sessions
from skerry.model.arrays import Bools, Int32s, Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.operators.accumulators import Accumulator
from skerry.operators.grouping import buckets, group_rows
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.spread import Spread

__all__ = ["FIRST", "LAST", "OpenSessions", "find_sessions", "session_schema"]

FIRST, LAST = "session_first", "session_last"
"""The columns that hold the moments of a session's first and last reading so far."""

_PAGES = 64
"""Over so many pages sessions are spread, by their keys: those that did not change are not written again."""


def session_schema(keys: Sequence[pa.Field], accumulators: Sequence[Accumulator] = ()) -> pa.Schema:
    """The first and last moment, keys, accumulators."""
    ends = [pa.field(FIRST, pa.int64()), pa.field(LAST, pa.int64())]
    return pa.schema([*ends, *keys, *(pa.field(each.name, each.type) for each in accumulators)])


def find_sessions(
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


class OpenSessions:
    """A row per session. Rows of a group that are at most the gap apart become one; rows are kept until removed.

    State is in pages by the hash of the keys; a save writes the pages that changed. Costs a sort of all sessions per
    batch.

    >>> sessions = OpenSessions(5, [pa.field("sensor", pa.string())])
    >>> for first, last in [(1, 4), (20, 20), (9, 9)]:
    ...     row = [[first], [last], ["a"]]
    ...     sessions.add(pa.RecordBatch.from_arrays([pa.array(each) for each in row], schema=sessions.schema))
    >>> sessions.rows.to_pydict()
    {'session_first': [1, 20], 'session_last': [9, 20], 'sensor': ['a', 'a']}
    """

    def __init__(self, gap_us: int, keys: Sequence[pa.Field], accumulators: Sequence[Accumulator] = ()) -> None:
        self._gap_us, self._keys, self._accumulators = gap_us, tuple(keys), tuple(accumulators)
        self.schema = session_schema(self._keys, self._accumulators)
        self._rows = empty(self.schema)
        self._fresh: list[pa.RecordBatch] = []
        self._changed_pages: set[int] = set()
        self._saved_pages: set[str] = set()

    def add(self, batch: pa.RecordBatch) -> None:
        """Take rows in; they count when ``rows`` is asked for."""
        if batch.num_rows:
            self._fresh.append(batch)

    @property
    def rows(self) -> pa.RecordBatch:
        """All sessions, in no particular order."""
        self._merge_fresh()
        return self._rows

    def remove(self, chosen: Bools) -> pa.RecordBatch:
        """Take the marked ones of ``rows`` out, and give them."""
        gone = self._rows.filter(pa.array(chosen))
        if gone.num_rows:
            self._note_changed(gone)
            self._rows = self._rows.filter(pa.array(~chosen))
        return gone

    def changes(self) -> PageChanges:
        """The pages in which sessions have come, grown or gone."""
        self._merge_fresh()
        pages = self._pack_pages(self._changed_pages, self._rows)
        gone = sorted((self._saved_pages & {str(page) for page in self._changed_pages}) - pages.keys())
        self._saved_pages = (self._saved_pages | pages.keys()) - set(gone)
        self._changed_pages = set()
        return PageChanges(pages, gone)

    def snapshot(self) -> dict[str, bytes]:
        """All pages."""
        self._merge_fresh()
        return self._pack_pages(range(_PAGES), self._rows)

    def restore(self, pages: StatePages) -> None:
        """Take sessions over."""
        self._saved_pages = set(pages)
        self._rows = join([unpack(pages[name]) for name in sorted(pages, key=int)], self.schema)

    def redistribute(self, states: Iterable[StatePages], spread: Spread) -> list[dict[str, bytes]]:
        """The sessions of all buckets, in the pages of other buckets."""
        pages = [unpack(state[name]) for state in states for name in sorted(state, key=int)]
        return [self._pack_pages(range(_PAGES), rows) for rows in spread.split(join(pages, self.schema))]

    def _merge_fresh(self) -> None:
        """Let what has come extend, join or begin sessions."""
        if not self._fresh:
            return
        fresh, self._fresh = join(self._fresh, self.schema), []
        self._note_changed(fresh)
        rows = join([self._rows, fresh], self.schema)
        keys = [rows.column(key.name) for key in self._keys]
        firsts, lasts = (rows.column(name).to_numpy() for name in (FIRST, LAST))
        groups, firsts, lasts = find_sessions(keys, firsts, lasts, self._gap_us)
        chosen = pa.array(groups.first)
        heads = [pa.array(firsts), pa.array(lasts), *(key.take(chosen) for key in keys)]
        columns = [each.merge(rows.column(each.name), groups) for each in self._accumulators]
        self._rows = pa.RecordBatch.from_arrays([*heads, *columns], schema=self.schema)

    def _pages_of(self, rows: pa.RecordBatch) -> Int32s | Int64s:
        if not self._keys:
            return np.zeros(rows.num_rows, np.int64)
        return buckets([rows.column(key.name) for key in self._keys], rows.num_rows, _PAGES)

    def _note_changed(self, rows: pa.RecordBatch) -> None:
        self._changed_pages.update(np.unique(self._pages_of(rows)).tolist())

    def _pack_pages(self, wanted: Iterable[int], sessions: pa.RecordBatch) -> dict[str, bytes]:
        """The sessions of some pages, by the names of the pages that have any."""
        pages = self._pages_of(sessions)
        found = {page: np.flatnonzero(pages == page) for page in sorted(wanted)}
        return {str(page): pack(sessions.take(pa.array(rows))) for page, rows in found.items() if rows.size}
