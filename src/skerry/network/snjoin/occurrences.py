"""The table of a cluster head: who read which value, and when."""

from bisect import bisect_left, insort
from typing import Protocol

from skerry.network.snjoin.wire import Member, SensorTuple

__all__ = ["Occurrences", "Table"]


class Table(Protocol):
    """What a head keeps its members' tuples in."""

    @property
    def lookups(self) -> int:
        """How many hash tables a probe looks into."""

    def insert(self, new: SensorTuple) -> None:
        """Take a tuple in."""

    def probe(self, by: SensorTuple, window_us: int) -> tuple[Member, ...]:
        """The tuples of other sensors with its value, before it in order of (time, sensor), within the window."""

    def forget(self, edge_us: int) -> None:
        """Let go of all tuples before a time."""


class Occurrences:
    """One table for all members: by value, the occurrences in order of (time, sensor).

    That order, and not the order of processing, decides which of two tuples finds the other: the later one.

    >>> table = Occurrences()
    >>> table.insert(SensorTuple(value=7, time=10, sensor=1))
    >>> table.insert(SensorTuple(value=7, time=30, sensor=2))
    >>> table.probe(SensorTuple(value=7, time=20, sensor=3), window_us=10)
    ((1, 10),)
    """

    lookups = 1

    def __init__(self) -> None:
        self._by_value: dict[int, list[tuple[int, int]]] = {}

    def insert(self, new: SensorTuple) -> None:
        """Take a tuple in, which may be late."""
        insort(self._by_value.setdefault(new.value, []), (new.time, new.sensor))

    def probe(self, by: SensorTuple, window_us: int) -> tuple[Member, ...]:
        """The tuples of other sensors with its value, before it in order of (time, sensor), within the window."""
        occurrences = self._by_value.get(by.value, [])
        first = bisect_left(occurrences, (by.time - window_us, -1))
        last = bisect_left(occurrences, (by.time, by.sensor))
        return tuple((sensor, time) for time, sensor in occurrences[first:last] if sensor != by.sensor)

    def forget(self, edge_us: int) -> None:
        """Let go of all tuples before a time."""
        for value in list(self._by_value):
            live = self._by_value[value]
            del live[: bisect_left(live, (edge_us, -1))]
            if not live:
                del self._by_value[value]

    def __len__(self) -> int:
        """How many tuples it holds."""
        return sum(map(len, self._by_value.values()))
