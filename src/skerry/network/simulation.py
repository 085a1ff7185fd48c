"""Simulated time: things happen in the order of their times, and the same again in every run."""

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf
from typing import Any

from skerry.errors import InputError
from skerry.model.time import Micros

__all__ = ["Simulation"]

_Event = tuple[Any, int, int, Callable[..., None], tuple[Any, ...]]


class Simulation:
    """A queue of events by (time, priority, sequence): of equal times the lower priority is first, then the earlier.

    >>> simulation = Simulation()
    >>> simulation.at(5, print, "five")
    >>> simulation.after(2, print, "two")
    >>> simulation.at(5, print, "five, but urgent", priority=-1)
    >>> simulation.run()
    two
    five, but urgent
    five
    >>> simulation.now, simulation.events
    (5, 3)
    """

    def __init__(self) -> None:
        self.now = Micros(0)
        self.events = 0
        """How many have happened, as of the last end of a run."""
        self._queue: list[_Event] = []
        self._sequence = 0

    @property
    def next_time(self) -> Micros | None:
        """When the next thing happens; None if nothing is left to do."""
        return Micros(self._queue[0][0]) if self._queue else None

    def at(self, time: int, action: Callable[..., None], *arguments: Any, priority: int = 0) -> None:
        """Have something done at a time, which must not be past."""
        if time < self.now:
            raise InputError(f"nothing can be done at {time} us any more: it is {self.now} us")
        self.push(time, action, arguments, priority)

    def push(self, time: int, action: Callable[..., None], arguments: tuple[Any, ...], priority: int = 0) -> None:
        """The same for callers that know that the time is not past."""
        self._sequence = sequence = self._sequence + 1
        heappush(self._queue, (time, priority, sequence, action, arguments))

    def after(self, delay_us: int, action: Callable[..., None], *arguments: Any, priority: int = 0) -> None:
        """Have something done after a delay."""
        self.at(self.now + delay_us, action, *arguments, priority=priority)

    def run(self, until: int | None = None) -> None:
        """Go on until nothing is left to do, or up to a time, with it."""
        queue, events, end = self._queue, 0, inf if until is None else until
        try:
            while queue and queue[0][0] <= end:
                self.now, _, _, action, arguments = heappop(queue)
                events += 1
                action(*arguments)
        finally:
            self.events += events
        if until is not None:
            self.now = Micros(max(self.now, until))
