"""The base facts that motes have been given: those that are there, and those that were lost with their motes."""

from collections.abc import Iterable, Iterator, Sequence

from skerry.deduce.change import Tick
from skerry.deduce.values import Row, row_key

__all__ = ["GivenFacts"]

_Given = tuple[int, str, Row]
"""The mote at which a fact arose, its predicate and its row."""


class GivenFacts:
    """Facts by predicate and row. What a dead mote would have been given is lost.

    >>> given = GivenFacts()
    >>> given.insert(3, "q", (3, 7), is_alive=True), given.insert(4, "q", (4, 7), is_alive=True)
    (True, True)
    >>> given.lose([3])
    >>> list(given), given.list_lost([]).deletes
    ([(4, 'q', (4, 7))], {'q': [(3, 7)]})
    """

    def __init__(self) -> None:
        self._there: dict[tuple[str, object], _Given] = {}
        self._lost: dict[tuple[str, object], _Given] = {}

    def __iter__(self) -> Iterator[_Given]:
        """Those that are there, in the order in which they came."""
        return iter(list(self._there.values()))

    def list_lost(self, ticks: Sequence[Tick]) -> Tick:
        """The tick after others at which those go that were lost, and have not come again."""
        lost: dict[str, list[Row]] = {}
        for _, predicate, row in self._lost.values():
            lost.setdefault(predicate, []).append(row)
        return Tick(ticks[-1].now if ticks else None, {}, lost)

    def insert(self, mote: int, predicate: str, row: Row, is_alive: bool) -> bool:
        """A fact comes; whether its mote can know."""
        key = (predicate, row_key(row))
        mine, other = (self._there, self._lost) if is_alive else (self._lost, self._there)
        mine[key] = (mote, predicate, row)
        other.pop(key, None)
        return is_alive

    def delete(self, predicate: str, row: Row) -> bool:
        """A fact goes; whether its mote can know."""
        key = (predicate, row_key(row))
        self._lost.pop(key, None)
        return self._there.pop(key, None) is not None

    def lose(self, motes: Iterable[int]) -> None:
        """These motes are dead."""
        dead = frozenset(motes)
        for key in [key for key, (mote, _, _) in self._there.items() if mote in dead]:
            self._lost[key] = self._there.pop(key)
