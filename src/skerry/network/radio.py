"""The radio: one transmission is one message, whoever hears it. Links keep order, take time, and lose messages."""

from dataclasses import dataclass
from random import Random
from typing import Protocol

from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.network.message import Kind, Message, is_plain
from skerry.network.simulation import Simulation
from skerry.network.tally import Tally
from skerry.network.topology.topology import Topology

__all__ = ["Observer", "Radio", "RadioSettings", "Receiver"]


class Receiver(Protocol):
    """Whatever listens at a mote."""

    def receive(self, sender: int, message: Message) -> None:
        """A message has come from a neighbour."""


class Observer(Protocol):
    """Whoever looks on from outside. Nothing that it does reaches a mote."""

    def see_sent(self, time: Micros, sender: int, receiver: int | None, kind: Kind, message: Message) -> Message:
        """A transmission, to one receiver or to all neighbours: gives the message back as an object of its own."""

    def see_heard(self, time: Micros, receiver: int, message: Message) -> None:
        """A receiver has heard the message that ``see_sent`` gave back."""


@dataclass(frozen=True)
class RadioSettings:
    """How messages fare: the time a hop takes, the probability that a receiver misses one, and how often to try again.

    ``retries`` is for messages to one receiver: without an acknowledgement they are sent again up to so many times.
    """

    least_delay_us: int = 5_000
    most_delay_us: int = 20_000
    loss: float = 0.0
    retries: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not 0 <= self.least_delay_us <= self.most_delay_us:
            raise InputError(f"a delay lies between {self.least_delay_us} and {self.most_delay_us} us?")
        if not 0.0 <= self.loss <= 1.0:
            raise InputError(f"loss is a probability, from 0 to 1; got {self.loss}")


class Radio:
    """Carries messages between the motes of a topology.

    A link is first in, first out: a message is never overtaken by a later one of the same sender to the same receiver.
    """

    def __init__(self, simulation: Simulation, topology: Topology, settings: RadioSettings, seed: int = 0) -> None:
        self.topology, self.settings = topology, settings
        self.tally = Tally(len(topology))
        self.observer: Observer | None = None
        self._simulation, self._random = simulation, Random(seed)
        self._receivers: list[Receiver | None] = [None] * len(topology)
        self._free_at: dict[tuple[int, int], int] = {}

    def attach(self, mote: int, receiver: Receiver | None) -> None:
        """Have messages to a mote received by somebody from now on; by nobody, if it is dead."""
        self._receivers[mote] = receiver

    def broadcast(self, sender: int, message: Message) -> None:
        """Send to all neighbours at once: one transmission."""
        self._count(sender, message)
        message = self._show(sender, None, message.kind, message)
        for receiver in self.topology.neighbours[sender]:
            self._carry(sender, receiver, message)

    def send(self, sender: int, receiver: int, message: Message) -> None:
        """Send to one neighbour, again if it was lost and that is allowed."""
        if receiver not in self.topology.neighbours[sender]:
            raise InputError(
                f"mote {sender} cannot reach {receiver}; its neighbours: {self.topology.neighbours[sender]}"
            )
        self._count(sender, message)
        message = self._show(sender, receiver, message.kind, message)
        for _ in range(self.settings.retries):
            if self._carry(sender, receiver, message):
                return
            self.tally.count(sender, Kind.RETRY, message.bytes)
            message = self._show(sender, receiver, Kind.RETRY, message)
        self._carry(sender, receiver, message)

    def _count(self, sender: int, message: Message) -> None:
        assert is_plain(message.body), f"a message holds what could be changed: {message}"
        self.tally.count(sender, message.kind, message.bytes)

    def _show(self, sender: int, receiver: int | None, kind: Kind, message: Message) -> Message:
        if self.observer is None:
            return message
        return self.observer.see_sent(self._simulation.now, sender, receiver, kind, message)

    def _carry(self, sender: int, receiver: int, message: Message) -> bool:
        """One receiver's share of a transmission: whether it hears it, and when."""
        link, settings, random = (sender, receiver), self.settings, self._random
        loss = self.topology.losses.get(link, settings.loss)
        if loss and random.random() < loss:
            return False
        delay = settings.least_delay_us + int(random.random() * (settings.most_delay_us - settings.least_delay_us))
        arrival = max(self._simulation.now + delay, self._free_at.get(link, 0))
        self._free_at[link] = arrival
        self._simulation.at(arrival, self._hand_over, sender, receiver, message)
        return True

    def _hand_over(self, sender: int, receiver: int, message: Message) -> None:
        listening = self._receivers[receiver]
        if listening is not None:
            if self.observer is not None:
                self.observer.see_heard(self._simulation.now, receiver, message)
            listening.receive(sender, message)
