"""The radio: one transmission is one message, whoever hears it. Links keep order, take time, and lose messages."""

from collections.abc import Callable
from random import Random
from typing import Protocol

from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.network.message import Kind, Message
from skerry.network.radio_settings import RadioSettings
from skerry.network.simulation import Simulation
from skerry.network.tally import Tally
from skerry.network.topology.topology import Topology

__all__ = ["Observer", "Radio", "RadioSettings", "Receiver"]

_Receive = Callable[[int, Message], None]


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


class Radio:
    """Carries messages between the motes of a topology.

    A delay is drawn per transmission: it is the sender's wait for the medium, and all that hear it do so at the same
    time, in the order of their numbers. Whether a receiver hears it is drawn per receiver. A mote's transmissions
    arrive in the order in which they were sent, so links are first in, first out.
    """

    def __init__(self, simulation: Simulation, topology: Topology, settings: RadioSettings, seed: int = 0) -> None:
        self.settings, self.simulation = settings, simulation
        self.tally = Tally(len(topology))
        self.observer: Observer | None = None
        self._draw = Random(seed).random
        self._least_delay_us = settings.least_delay_us
        self._spread_us = settings.most_delay_us - settings.least_delay_us
        self._receive: list[_Receive | None] = [None] * len(topology)
        self._last_arrival = [0] * len(topology)
        self.connect(topology)

    def connect(self, topology: Topology) -> None:
        """Have these links from now on. What is on the air already is heard by those that it was sent to."""
        if len(topology) != len(self._receive):
            raise InputError(f"links change between {len(self._receive)} motes; got a topology of {len(topology)}")
        self.topology = topology
        self._neighbours = topology.neighbours
        self._is_lossy = self.settings.loss > 0.0 or any(topology.losses.values())

    def attach(self, mote: int, receiver: Receiver | None) -> None:
        """Have messages to a mote received by somebody from now on; by nobody, if it is dead."""
        self._receive[mote] = None if receiver is None else receiver.receive

    def silence(self, mote: int) -> None:
        """Forget what a mote still has to send: it is dead. What is on the air is heard."""

    def broadcast(self, sender: int, message: Message) -> None:
        """Send to all neighbours at once: one transmission."""
        self.tally.count(sender, message.kind, message.bytes)
        if self.observer is not None:
            message = self._show(sender, None, message.kind, message)
        if self._is_lossy:
            self._deliver_after(self._draw_delay(), sender, self._neighbours[sender], message)
        else:
            self._hand_over_after(self._draw_delay(), sender, self._neighbours[sender], message)

    def send(self, sender: int, receiver: int, message: Message) -> None:
        """Send to one neighbour, again if it was not acknowledged and that is allowed. Every attempt takes a delay."""
        self._check_link(sender, receiver)
        self.tally.count(sender, message.kind, message.bytes)
        message = self._show(sender, receiver, message.kind, message)
        delay_us = self._draw_delay()
        for _ in range(self.settings.retries):
            if self._is_heard(sender, receiver):
                self._hand_over_after(delay_us, sender, (receiver,), message)
                return
            self.tally.count(sender, Kind.RETRY, message.bytes)
            message = self._show(sender, receiver, Kind.RETRY, message, delay_us)
            delay_us += self._draw_delay()
        self._deliver_after(delay_us, sender, (receiver,), message)

    def _show(self, sender: int, receiver: int | None, kind: Kind, message: Message, delay_us: int = 0) -> Message:
        if self.observer is None:
            return message
        return self.observer.see_sent(Micros(self.simulation.now + delay_us), sender, receiver, kind, message)

    def _check_link(self, sender: int, receiver: int) -> None:
        neighbours = self._neighbours[sender]
        if receiver not in neighbours:
            raise InputError(f"mote {sender} cannot reach {receiver}; its neighbours: {neighbours}")

    def _draw_delay(self) -> int:
        return self._least_delay_us + int(self._draw() * self._spread_us)

    def _is_heard(self, sender: int, receiver: int) -> bool:
        """Whether a receiver hears an attempt, as of now: it is alive, and nothing was lost."""
        return self._receive[receiver] is not None and not self._is_lost(sender, receiver)

    def _is_lost(self, sender: int, receiver: int) -> bool:
        if not self._is_lossy:
            return False
        loss = self.topology.losses.get((sender, receiver), self.settings.loss)
        return loss > 0.0 and self._draw() < loss

    def _deliver_after(self, delay_us: int, sender: int, receivers: tuple[int, ...], message: Message) -> None:
        """A transmission that some of the receivers may miss."""
        hearing = tuple([receiver for receiver in receivers if not self._is_lost(sender, receiver)])
        self._hand_over_after(delay_us, sender, hearing, message)

    def _hand_over_after(self, delay_us: int, sender: int, receivers: tuple[int, ...], message: Message) -> None:
        """A transmission that all receivers hear: after a delay, but not before what the sender has sent earlier."""
        arrival = self.simulation.now + delay_us
        if arrival < self._last_arrival[sender]:
            arrival = self._last_arrival[sender]
        self._last_arrival[sender] = arrival
        self.simulation.push(arrival, self._hand_over, (sender, receivers, message))

    def _hand_over(self, sender: int, receivers: tuple[int, ...], message: Message) -> None:
        heard, heard_bytes, size = self.tally.heard_by_mote, self.tally.bytes_heard_by_mote, message.bytes
        for mote in receivers:
            receive = self._receive[mote]
            if receive is not None:
                heard[mote] += 1
                heard_bytes[mote] += size
                if self.observer is not None:
                    self.observer.see_heard(self.simulation.now, mote, message)
                receive(sender, message)
