"""What a mote can do: read its own clock, wake itself, and speak to its neighbours. Nothing else reaches it."""

from collections.abc import Callable
from typing import Any

from skerry.model.time import Micros
from skerry.network.message import Message
from skerry.network.radio import Radio
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Position

__all__ = ["Board"]


class Board:
    """The hardware under a mote's program: number, position, neighbours, clock, timer and radio.

    A program that runs on a mote has its board and messages, and no way to another mote. ``skew_us`` is by how much
    its clock is ahead of the simulation's. A dead mote sends nothing, and what it had asked to be woken for is
    forgotten, also when it comes back. ``on_link`` is called with a neighbour's number and whether it can be heard,
    when a link comes or goes.
    """

    def __init__(self, mote: int, simulation: Simulation, radio: Radio, skew_us: int = 0) -> None:
        self.mote, self.neighbours = mote, radio.topology.neighbours[mote]
        self.on_link: Callable[[int, bool], None] | None = None
        self.is_alive = True
        self._simulation, self._radio, self._skew_us = simulation, radio, skew_us
        self._life = 0
        self._since_us, self._lived_us = simulation.now, 0

    @property
    def position(self) -> Position | None:
        """Where it stands, if it knows."""
        positions = self._radio.topology.positions
        return None if positions is None else positions[self.mote]

    @property
    def clock(self) -> Micros:
        """The time, as this mote's clock says."""
        return Micros(self._simulation.now + self._skew_us)

    @property
    def alive_us(self) -> Micros:
        """How long it has been alive, in all."""
        return Micros(self._lived_us + (self._simulation.now - self._since_us if self.is_alive else 0))

    def wake(self, delay_us: int, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done here after a delay."""
        self._simulation.after(delay_us, self._wake_up, self._life, action, arguments)

    def broadcast(self, message: Message) -> None:
        """Send to all neighbours: one transmission."""
        if self.is_alive:
            self._radio.broadcast(self.mote, message)

    def send(self, receiver: int, message: Message) -> None:
        """Send to one neighbour."""
        if self.is_alive:
            self._radio.send(self.mote, receiver, message)

    def die(self) -> None:
        """Do nothing from now on."""
        self._lived_us, self.is_alive, self.on_link = self.alive_us, False, None
        self._life += 1

    def come_back(self) -> None:
        """Be alive again, with nothing remembered."""
        self._since_us, self.is_alive = self._simulation.now, True

    def change_links(self, neighbours: tuple[int, ...]) -> None:
        """Have these neighbours, and say what is new."""
        before, self.neighbours = self.neighbours, neighbours
        if self.on_link is not None:
            for other in sorted(set(before) ^ set(neighbours)):
                self.on_link(other, other in neighbours)

    def _wake_up(self, life: int, action: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if self.is_alive and life == self._life:
            action(*arguments)
