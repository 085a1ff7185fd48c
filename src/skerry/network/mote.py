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
    its clock is ahead of the simulation's.
    """

    def __init__(self, mote: int, simulation: Simulation, radio: Radio, skew_us: int = 0) -> None:
        self.mote, self.neighbours = mote, radio.topology.neighbours[mote]
        self._simulation, self._radio, self._skew_us = simulation, radio, skew_us

    @property
    def position(self) -> Position | None:
        """Where it stands, if it knows."""
        positions = self._radio.topology.positions
        return None if positions is None else positions[self.mote]

    @property
    def clock(self) -> Micros:
        """The time, as this mote's clock says."""
        return Micros(self._simulation.now + self._skew_us)

    def wake(self, delay_us: int, action: Callable[..., None], *arguments: Any) -> None:
        """Have something done here after a delay."""
        self._simulation.after(delay_us, action, *arguments)

    def broadcast(self, message: Message) -> None:
        """Send to all neighbours: one transmission."""
        self._radio.broadcast(self.mote, message)

    def send(self, receiver: int, message: Message) -> None:
        """Send to one neighbour."""
        self._radio.send(self.mote, receiver, message)
