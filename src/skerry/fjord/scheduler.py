"""Whose turn it is. One thread is enough: operators give control back after each message.

A scheduler chooses among queries; the operators of one query do not compete, for each takes what the one before it
gives. It alone reads the clock.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heapreplace
from typing import Protocol

__all__ = ["SCHEDULERS", "Frequencies", "RoundRobin", "Scheduled", "Scheduler", "Tickets"]


class Scheduled(Protocol):
    """What is given turns: the operators of a query."""

    def turn(self) -> bool:
        """Work on one message, if there is one; say whether there was."""


class Scheduler(ABC):
    """Gives turns to queries. ``priority`` says how much one of them matters; others have 1."""

    def __init__(self) -> None:
        self._priorities: dict[Scheduled, int] = {}

    def add(self, query: Scheduled, priority: int = 1) -> None:
        """Give turns to a query from now on."""
        self._priorities[query] = priority

    def remove(self, query: Scheduled) -> None:
        """Forget a query."""
        del self._priorities[query]

    def turns(self) -> Iterator[Scheduled]:
        """Give turns until nobody has anything to do; tell who had each."""
        has_worked = True
        while has_worked:
            has_worked = False
            for query in self._go_on():
                has_worked = True
                yield query

    def run(self, is_enough: Callable[[], bool] | None = None) -> None:
        """Give turns until nobody has anything to do, or that is enough."""
        for _ in self.turns():
            if is_enough and is_enough():
                return

    @abstractmethod
    def _go_on(self) -> Iterator[Scheduled]:
        """Give turns until each query has said once that it has nothing to do."""


class Frequencies(Scheduler):
    """In each round, a query has as many turns as its priority says."""

    def _go_on(self) -> Iterator[Scheduled]:
        busy = dict(self._priorities)
        while busy:
            for query, count in list(busy.items()):
                for _ in range(self._find_count(count)):
                    if not query.turn():
                        del busy[query]
                        break
                    yield query

    def _find_count(self, priority: int) -> int:
        return priority


class RoundRobin(Frequencies):
    """In each round, each query has one turn, whatever its priority."""

    def _find_count(self, priority: int) -> int:
        return 1


class Tickets(Scheduler):
    """The next turn is for the query that has paid least. A turn costs the time that it took, by priority.

    So of queries that always have something to do, each gets the same share of the time, or as much of it as its
    priority says, however long its turns are. Who had nothing to do has saved nothing up by that: it begins again with
    what the last one chosen had paid.

    Waldspurger, Weihl: Lottery Scheduling, 1994, made deterministic as in their Stride Scheduling, 1995.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__()
        self._clock, self._level = clock, 0.0
        self._paid: dict[Scheduled, float] = {}

    def remove(self, query: Scheduled) -> None:
        """Forget a query, and what it has paid."""
        super().remove(query)
        self._paid.pop(query, None)

    def _go_on(self) -> Iterator[Scheduled]:
        waiting = [
            (max(self._paid.get(query, 0.0), self._level), number, query)
            for number, query in enumerate(self._priorities)
        ]
        heapify(waiting)
        while waiting:
            paid, number, query = waiting[0]
            began = self._clock()
            if not query.turn():
                heappop(waiting)
                continue
            self._level = paid
            self._paid[query] = paid + (self._clock() - began) / self._priorities[query]
            heapreplace(waiting, (self._paid[query], number, query))
            yield query


SCHEDULERS: dict[str, Callable[[], Scheduler]] = {
    "round-robin": RoundRobin,
    "tickets": Tickets,
    "frequencies": Frequencies,
}
"""By the names that users give."""
