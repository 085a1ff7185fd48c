"""In which order a mote does what it has to do: as it comes, or held for a moment and then by stage."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, Protocol

__all__ = ["Agenda", "ArrivalAgenda", "StageAgenda", "Timer"]

Timer = Callable[[int, Callable[[], None]], None]
"""Has something done after a delay in microseconds."""

Priority = tuple[int, ...]


class Agenda(Protocol):
    """What waits to be done at a mote."""

    def add(self, priority: Priority, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done in its turn."""

    def hasten(self, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done at once, but not in the middle of something else."""


class ArrivalAgenda:
    """At once, in the order of arrival: the order of Gupta and Zhu, which ignores stages.

    >>> agenda = ArrivalAgenda()
    >>> agenda.add((2,), print, "two")
    two
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._is_busy = False

    def add(self, priority: Priority, action: Callable[..., None], *arguments: Any) -> None:
        """Do it, after what is being done."""
        self._waiting.append((action, arguments))
        if self._is_busy:
            return
        self._is_busy = True
        while self._waiting:
            following, given = self._waiting.popleft()
            following(*given)
        self._is_busy = False

    def hasten(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do it, after what is being done."""
        self.add((), action, *arguments)


class StageAgenda:
    """Held for ``hold_us``, in which more may arrive, then done by priority, the lowest first.

    So a mote seldom derives what it has to withdraw. What an action adds is done in the same go.

    >>> timers = []
    >>> agenda = StageAgenda(lambda delay, action: timers.append(action), hold_us=10)
    >>> agenda.add((2,), print, "two")
    >>> agenda.add((1,), print, "one")
    >>> timers.pop()()
    one
    two
    """

    def __init__(self, timer: Timer, hold_us: int) -> None:
        self._timer, self._hold_us = timer, hold_us
        self._waiting: list[tuple[Priority, int, Callable[..., None], tuple[Any, ...]]] = []
        self._sequence, self._is_set = 0, False

    def add(self, priority: Priority, action: Callable[..., None], *arguments: Any) -> None:
        """Do it when the time is over."""
        self._sequence += 1
        heappush(self._waiting, (priority, self._sequence, action, arguments))
        if not self._is_set:
            self._is_set = True
            self._timer(self._hold_us, self._run)

    def hasten(self, action: Callable[..., None], *arguments: Any) -> None:
        """Do it now: nothing else is being done, for what waits has its own time."""
        action(*arguments)

    def _run(self) -> None:
        while self._waiting:
            _, _, action, arguments = heappop(self._waiting)
            action(*arguments)
        self._is_set = False
