"""The tuples that a mote knows: its own, and replicas of others'."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from skerry.deduce.values import Row
from skerry.network.rules.node_program import TupleId

__all__ = ["Store", "Stored"]

_Index = dict[Row, dict[TupleId, "Stored"]]


@dataclass(frozen=True, slots=True)
class Stored:
    """A tuple with its id, when it ceases to count (in the mote's time), and whether it lives here."""

    id: TupleId
    predicate: str
    row: Row
    expiry_us: int | None
    is_own: bool


class Store:
    """Tuples by predicate and id, with an index for each set of columns that is asked for.

    What was dropped is remembered for a while: an insertion that arrives after its deletion changes nothing.

    >>> store = Store()
    >>> store.add(Stored((0, 5, 1), "p", (1, 2), None, True))
    True
    >>> [found.row for found in store.match("p", (1,), (2,))], store.drop((0, 5, 1)) is not None
    ([(1, 2)], True)
    >>> store.add(Stored((0, 5, 1), "p", (1, 2), None, True))
    False
    """

    def __init__(self) -> None:
        self._tuples: dict[TupleId, Stored] = {}
        self._dropped: set[TupleId] = set()
        self._buried: dict[str, dict[TupleId, Stored]] = {}
        self._indexes: dict[str, dict[tuple[int, ...], _Index]] = {}
        self.on_drop: Callable[[TupleId], None] | None = None
        """Is called with a tuple that is here no more."""
        self.on_tombstone: Callable[[TupleId], None] | None = None
        """Is called with a tuple whose deletion is remembered from now on."""
        self.latest_us = 0
        """By how much a tuple was stored, or joined, later than others rely on, at most."""
        self.storage_us = self.join_us = 0
        """The longest that it took to store a tuple, and to join it."""
        self.most = 0
        """The most tuples that it has held."""

    def __len__(self) -> int:
        """How many tuples it holds."""
        return len(self._tuples)

    def has_seen(self, identity: TupleId) -> bool:
        """Whether a tuple is here, or was."""
        return identity in self._tuples or identity in self._dropped

    def __contains__(self, identity: TupleId) -> bool:
        """Whether a tuple is here."""
        return identity in self._tuples

    def has_dropped(self, identity: TupleId) -> bool:
        """Whether a tuple's deletion is known."""
        return identity in self._dropped

    def add(self, stored: Stored) -> bool:
        """Take a tuple in; whether it is new."""
        if self.has_seen(stored.id):
            return False
        self._tuples[stored.id] = stored
        self.most = max(self.most, len(self._tuples))
        for columns, index in self._of(stored.predicate).items():
            index.setdefault(_choose(stored.row, columns), {})[stored.id] = stored
        return True

    def drop(self, identity: TupleId) -> Stored | None:
        """Remember a deletion; what is dropped by that, if it was here."""
        if identity not in self._dropped:
            self._dropped.add(identity)
            if self.on_tombstone is not None:
                self.on_tombstone(identity)
        stored = self._tuples.pop(identity, None)
        if stored is not None:
            for columns, index in self._of(stored.predicate).items():
                values = _choose(stored.row, columns)
                del index[values][identity]
                if not index[values]:
                    del index[values]
            if self.on_drop is not None:
                self.on_drop(identity)
        return stored

    def forget(self, identity: TupleId) -> None:
        """Forget a deletion."""
        self._dropped.discard(identity)
        for buried in self._buried.values():
            buried.pop(identity, None)

    def note_storage(self, took_us: int, most_us: int) -> None:
        """Note how long a tuple took to be stored, and by how much that is longer than joins rely on."""
        self.storage_us = max(self.storage_us, took_us)
        self.latest_us = max(self.latest_us, took_us - most_us)

    def note_join(self, took_us: int, most_us: int) -> None:
        """Note how long a join took, and by how much that is longer than is remembered for it."""
        self.join_us = max(self.join_us, took_us)
        self.latest_us = max(self.latest_us, took_us - most_us)

    def bury(self, stored: Stored) -> None:
        """Keep a tuple that was dropped for the joins that withdraw what was made with it."""
        self._buried.setdefault(stored.predicate, {})[stored.id] = stored

    def buried(self, predicate: str) -> Iterable[Stored]:
        """The tuples of a predicate that were dropped and are kept."""
        return list(self._buried.get(predicate, {}).values())

    def match(self, predicate: str, columns: tuple[int, ...], values: Row) -> Iterable[Stored]:
        """The tuples with given values in some columns, and perhaps others whose values Python takes for equal."""
        indexes = self._of(predicate)
        if columns not in indexes:
            indexes[columns] = self._make_index(predicate, columns)
        return list(indexes[columns].get(values, {}).values())

    def __iter__(self) -> Iterator[Stored]:
        """All tuples."""
        return iter(list(self._tuples.values()))

    def _of(self, predicate: str) -> dict[tuple[int, ...], _Index]:
        return self._indexes.setdefault(predicate, {})

    def _make_index(self, predicate: str, columns: tuple[int, ...]) -> _Index:
        index: _Index = {}
        for stored in self._tuples.values():
            if stored.predicate == predicate:
                index.setdefault(_choose(stored.row, columns), {})[stored.id] = stored
        return index


def _choose(row: Row, columns: tuple[int, ...]) -> Row:
    return tuple(row[column] for column in columns)
