"""The rows of one predicate, and what has become of them within a tick."""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from skerry.kernels.rules.postings import Postings
from skerry.kernels.rules.row_set import NEW, OLD, TOUCHED, WAITING, RowSet
from skerry.model.arrays import Bools, Int8s, Int64s

__all__ = ["KEPT", "NEW", "OLD", "Relation"]


_NO_ROWS = np.empty(0, np.int64)
KEPT = OLD | NEW
"""There before the tick, and still."""
_ROW_BYTES = 8 + 1 + 16 + 8
"""What a row takes beside its codes: rank, state, slots, a note that it was touched."""


class Relation:
    """Rows of codes that come and go. What a tick did can be taken back until ``commit``.

    >>> edge = Relation("edge", 2)
    >>> edge.insert(np.array([[1, 2], [2, 3]])).tolist()
    [0, 1]
    >>> edge.commit()
    >>> edge.suspend(np.array([0]))
    >>> edge.rows_added().tolist(), edge.rows_deleted().tolist(), edge.size
    ([], [0], 1)
    >>> edge.roll_back()
    >>> edge.size
    2
    """

    def __init__(self, name: str, arity: int) -> None:
        self.name, self.arity = name, arity
        self.size = 0
        """How many rows are there now."""
        self._rows = RowSet(arity)
        self._postings: dict[tuple[int, ...], Postings] = {}
        self._touched: list[Int64s] = []
        """Rows that came or left in this tick, if only for a while; each stands here once."""
        self._former_ranks: list[tuple[Int64s, Int64s]] = []
        self._last = (0, _NO_ROWS, _NO_ROWS)
        self._former_size = 0

    @property
    def codes(self) -> Int64s:
        """Rows of codes; some are free."""
        return self._rows.codes

    @property
    def states(self) -> Int8s:
        """By row: whether it was there before the tick (``OLD``), and is there now (``NEW``)."""
        return self._rows.states

    @property
    def ranks(self) -> Int64s:
        """By row: its rank, above those of the rows that it was derived from. Of base facts: the order of arrival."""
        return self._rows.ranks

    @property
    def address(self) -> int:
        """Where kernels find its rows."""
        return self._rows.address

    @property
    def indexes(self) -> Collection[Postings]:
        """Its lists of rows, as far as they were asked for."""
        return self._postings.values()

    def rows_per_key(self, columns: tuple[int, ...]) -> float | None:
        """About how many rows have the same values in some columns, if there are lists of them."""
        found = self._postings.get(columns)
        return None if found is None else self.size / max(found.keys, 1)

    def make_room(self) -> None:
        """Make room for another row, here and in all lists."""
        if self._rows.is_full:
            self._rows.grow()
        for postings in self._postings.values():
            postings.reach(len(self._rows.codes))
            if postings.is_full:
                postings.grow()

    def note(self, touched: Int64s) -> None:
        """Rows were touched by a kernel, for the first time in this tick."""
        if touched.size:
            self._touched.append(touched)

    def insert(self, keys: Int64s, ranks: Int64s | None = None) -> Int64s:
        """Insert rows; return those that were not there just before."""
        given = np.zeros(len(keys), np.int64) if ranks is None else ranks
        changed, fresh = self._rows.insert(keys, given)
        for postings in self._postings.values():
            postings.link(self._rows.codes, fresh)
        self.size += changed.size
        if changed.size:
            self._touched.append(fresh)
        return changed

    def suspend(self, rows: Int64s) -> None:
        """Take out rows that are there; each is given once. They stay findable until the tick ends."""
        if not rows.size:
            return
        self._former_ranks.append((rows, self.ranks[rows]))
        states = self.states[rows]
        self._touched.append(rows[(states & (OLD | TOUCHED)) == OLD])
        self.states[rows] = (states & ~NEW) | TOUCHED
        self.size -= rows.size

    def find(self, keys: Int64s) -> Int64s:
        """The row of each key, whatever its state, or -1."""
        return self._rows.find(keys)

    def find_live(self, keys: Int64s, want: int) -> tuple[Int64s, Bools]:
        """The row of each key, and whether it has the state wanted."""
        rows = self._rows.find(keys)
        return rows, (rows >= 0) & ((self.states[rows] & want) == want)

    def postings(self, columns: tuple[int, ...]) -> Postings:
        """Lists of rows by the values of some columns, made when first asked for."""
        found = self._postings.get(columns)
        if found is None:
            found = self._postings[columns] = Postings(np.array(columns, np.int64))
            found.link(self._rows.codes, self.rows(NEW | OLD | TOUCHED | WAITING))
        return found

    def rows(self, want: int = NEW) -> Int64s:
        """All rows in one of some states."""
        return np.flatnonzero(self.states[: self._rows.count] & want)

    def rows_added(self) -> Int64s:
        """Rows that came in this tick."""
        return self._changes()[1]

    def rows_deleted(self) -> Int64s:
        """Rows that left in this tick."""
        return self._changes()[2]

    @property
    def kept(self) -> int:
        """How many rows were there before the tick and still are."""
        return self.size - self.rows_added().size

    def mark(self) -> int:
        """A moment within the tick."""
        return len(self._touched)

    def changes_since(self, mark: int) -> tuple[Int64s, Int64s]:
        """Rows that were touched since a moment, of them those that came and those that left in this tick."""
        touched = _concatenate(self._touched[mark:])
        states = self.states[touched] & (OLD | NEW)
        return touched[states == NEW], touched[states == OLD]

    def count_changes(self) -> int:
        """About how many rows came or left in this tick, if only for a while."""
        return max(sum(rows.size for rows in self._touched), self.size - self._former_size)

    def count_bytes(self) -> int:
        """How much memory its rows and lists take, apart from what is free in their tables."""
        links = sum(postings.count_bytes(self.size) for postings in self._postings.values())
        return self.size * (8 * self.arity + _ROW_BYTES) + links

    def commit(self) -> None:
        """End the tick: the rows that hold now are the old state of the next."""
        self._end(lambda states: np.where(states & NEW, NEW | OLD, 0).astype(np.int8))
        self._former_size = self.size

    def roll_back(self) -> None:
        """Undo the tick: the rows before it hold again, at their old ranks."""
        for rows, ranks in reversed(self._former_ranks):
            self.ranks[rows] = ranks
        self._end(lambda states: np.where(states & OLD, NEW | OLD, 0).astype(np.int8))
        self.size = self.rows().size

    def _changes(self) -> tuple[int, Int64s, Int64s]:
        """What came and what left, up to the last time that something was touched."""
        if len(self._touched) != self._last[0]:
            self._last = len(self._touched), *self.changes_since(0)
        return self._last

    def _end(self, change: Callable[[Int8s], Int8s]) -> None:
        touched = _concatenate(self._touched)
        if touched.size:
            self.states[touched] = change(self.states[touched])
            gone = touched[self.states[touched] == 0]
            if gone.size:
                for postings in self._postings.values():
                    postings.unlink(gone)
                self._rows.remove(gone)
        self._touched, self._former_ranks, self._last = [], [], (0, _NO_ROWS, _NO_ROWS)


def _concatenate(rows: Sequence[Int64s]) -> Int64s:
    if not rows:
        return _NO_ROWS
    return rows[0] if len(rows) == 1 else np.concatenate(rows)
