"""A radio with collisions: transmissions take time, and two that a mote hears at once are both lost there."""

from collections import deque
from dataclasses import dataclass, field

from skerry.network.message import Kind, Message
from skerry.network.radio import Radio
from skerry.network.radio_settings import RadioSettings
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology

__all__ = ["CollidingRadio"]


@dataclass(eq=False, slots=True)
class _Transmission:
    """A message on its way: to one receiver, or to all (None); and the motes at which it has met another."""

    sender: int
    receiver: int | None
    message: Message
    retries: int
    kind: Kind
    hearers: tuple[int, ...] = ()
    garbled: set[int] = field(default_factory=set)


class CollidingRadio(Radio):
    """One transmission at a time per mote, after a random wait, and not while the sender hears another.

    A mote hears nothing while it sends. Transmissions of motes that do not hear each other collide at those between
    them. A message to one receiver that was not heard is sent again before anything else, so links keep their order.
    """

    def __init__(self, simulation: Simulation, topology: Topology, settings: RadioSettings, seed: int = 0) -> None:
        super().__init__(simulation, topology, settings, seed)
        self.collisions = 0
        """Receptions that were lost to them."""
        self._waiting: list[deque[_Transmission]] = [deque() for _ in topology.neighbours]
        self._is_busy = [False] * len(topology)
        self._on_air: list[list[_Transmission]] = [[] for _ in topology.neighbours]

    def broadcast(self, sender: int, message: Message) -> None:
        """Send to all neighbours at once: one transmission."""
        self._enqueue(_Transmission(sender, None, message, 0, message.kind))

    def send(self, sender: int, receiver: int, message: Message) -> None:
        """Send to one neighbour, again if it was not acknowledged and that is allowed."""
        self._check_link(sender, receiver)
        self._enqueue(_Transmission(sender, receiver, message, self.settings.retries, message.kind))

    def silence(self, mote: int) -> None:
        """Forget what a mote still has to send: it is dead."""
        self._waiting[mote].clear()

    def _enqueue(self, transmission: _Transmission) -> None:
        self._waiting[transmission.sender].append(transmission)
        if not self._is_busy[transmission.sender]:
            self._wait(transmission.sender)

    def _wait(self, sender: int) -> None:
        self._is_busy[sender] = True
        self.simulation.after(self._draw_delay(), self._begin, sender)

    def _begin(self, sender: int) -> None:
        """Start what is next, unless the sender hears somebody: then wait again."""
        if self._on_air[sender]:
            self._wait(sender)
        elif not self._waiting[sender]:
            self._is_busy[sender] = False
        else:
            self._go_on_air(self._waiting[sender].popleft())

    def _go_on_air(self, transmission: _Transmission) -> None:
        sender, size = transmission.sender, transmission.message.bytes
        self.tally.count(sender, transmission.kind, size)
        transmission.message = self._show(sender, transmission.receiver, transmission.kind, transmission.message)
        transmission.hearers = self._neighbours[sender]
        transmission.garbled.clear()
        for mote in (sender, *transmission.hearers):
            for other in self._on_air[mote]:
                other.garbled.add(mote)
                transmission.garbled.add(mote)
            self._on_air[mote].append(transmission)
        self.simulation.after(-(-size * 8_000_000 // self.settings.bits_per_second), self._end, transmission)

    def _end(self, transmission: _Transmission) -> None:
        sender = transmission.sender
        for mote in (sender, *transmission.hearers):
            self._on_air[mote].remove(transmission)
        heard = self._find_hearing(transmission)
        if transmission.receiver is not None and not heard and transmission.retries > 0:
            transmission.retries, transmission.kind = transmission.retries - 1, Kind.RETRY
            self._waiting[sender].appendleft(transmission)
        self._wait(sender)
        self._hand_over(sender, heard, transmission.message)

    def _find_hearing(self, transmission: _Transmission) -> tuple[int, ...]:
        receivers = transmission.hearers if transmission.receiver is None else (transmission.receiver,)
        clear = [mote for mote in receivers if mote not in transmission.garbled]
        self.collisions += len(receivers) - len(clear)
        return tuple([mote for mote in clear if self._is_heard(transmission.sender, mote)])
