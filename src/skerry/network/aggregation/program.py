"""What a mote does in an epoch: it samples, merges what it hears from below, and passes the states of all groups on."""

from collections.abc import Callable
from typing import Any

from skerry.network.aggregation.aggregates import Aggregate
from skerry.network.aggregation.slots import Slots
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board

__all__ = ["AggregateProgram", "Answer", "Sample"]

Sample = Callable[[int], tuple[Any, int | float] | None]
"""What a mote senses in an epoch: a group and a value, or nothing."""

Answer = dict[Any, int | float]
"""The value of each group; that of all motes together is under ``()``."""


class AggregateProgram:
    """One mote's part of an aggregate. What is heard after its own turn, or of another epoch, is too late and dropped.

    ``parent`` is whom it sends to: over a tree, one mote; over rings (None), whoever hears it. A mote takes what comes
    from deeper motes only. The root keeps its answers, by epoch.
    """

    def __init__(
        self, board: Board, aggregate: Aggregate, slots: Slots, depth: int, parent: int | None, sample: Sample
    ) -> None:
        self.board, self.answers = board, dict[int, Answer]()
        self.dropped = 0
        self._aggregate, self._slots, self._depth, self._parent = aggregate, slots, depth, parent
        self._sample = sample
        self._epoch = 0
        self._states: dict[Any, Any] = {}

    def start(self, epochs: int) -> None:
        """Take part in so many epochs."""
        for epoch in range(epochs):
            self.board.wake(self._slots.time_of(epoch, self._depth) - self.board.clock, self._speak, epoch)

    def receive(self, sender: int, message: Message) -> None:
        """A mote below has spoken."""
        epoch, depth, states = message.body
        if depth <= self._depth:
            return
        if epoch != self._epoch:
            self.dropped += 1
            return
        for group, state in states:
            self._take(group, state)

    def _take(self, group: Any, state: Any) -> None:
        known = self._states.get(group)
        self._states[group] = state if known is None else self._aggregate.merge(known, state)

    def _speak(self, epoch: int) -> None:
        own = self._sample(epoch)
        if own is not None:
            self._take(own[0], self._aggregate.start(own[1], self.board.mote, epoch))
        if self._depth == 0:
            self.answers[epoch] = {group: self._aggregate.finish(state) for group, state in self._states.items()}
        elif self._states:
            self._pass_on(epoch)
        self._states, self._epoch = {}, epoch + 1

    def _pass_on(self, epoch: int) -> None:
        states = tuple(self._states.items())
        size = sum(count_bytes(group) + self._aggregate.count_bytes(state) for group, state in states)
        message = Message(Kind.RESULT, (epoch, self._depth, states), HEADER_BYTES + 3 + size)
        if self._parent is None:
            self.board.broadcast(message)
        else:
            self.board.send(self._parent, message)
