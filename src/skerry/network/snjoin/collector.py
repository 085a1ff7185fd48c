"""The collector: what stands for the data stream management system. It takes answers, and says who was relevant."""

from collections.abc import Callable
from typing import NamedTuple

from skerry.network.message import Message
from skerry.network.mote import Board
from skerry.network.snjoin.head import Roles
from skerry.network.snjoin.wire import Found, Member, Note, Probe, SensorTuple, pack_note

__all__ = ["Answer", "Collector", "weigh"]


class Answer(NamedTuple):
    """A tuple, and the earlier tuples of other sensors that share its value within the window."""

    arrival: SensorTuple
    members: tuple[Member, ...]
    found: tuple[Found, ...]
    """How much each head has found; the first is the one that began."""

    @property
    def width(self) -> int:
        """How many sensors take part, the tuple's own included."""
        return 1 + len({sensor for sensor, _ in self.members})


class Collector:
    """Takes one answer per tuple, and sends one feedback note per answer if heads are to learn."""

    def __init__(self, board: Board, roles: Roles, gives_feedback: bool, deliver: Callable[[Answer], None]) -> None:
        self._board, self._roles = board, roles
        self._gives_feedback, self._deliver = gives_feedback, deliver

    def receive(self, sender: int, message: Message) -> None:
        """A result has come."""
        _, sequence, by, found, members = message.body
        probe = Probe(sequence, SensorTuple(*by), found, members)
        self._deliver(Answer(probe.arrival, probe.members, probe.found))
        if self._gives_feedback:
            note = Note(probe.arrival.value, weigh(probe.found))
            self._board.send(self._roles.heads[probe.found[0][0]], pack_note(note))


def weigh(found: tuple[Found, ...]) -> tuple[tuple[int, float], ...]:
    """For each head that was probed, its share of all that was found.

    >>> weigh(((4, 2), (0, 5), (1, 3)))
    ((0, 0.5), (1, 0.3))
    """
    total = sum(count for _, count in found)
    return tuple((head, count / total if total else 0.0) for head, count in found[1:])
