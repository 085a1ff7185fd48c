"""A network at work: simulated time, a radio, and a board per mote, made from a topology and a seed."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from skerry.network.mote import Board
from skerry.network.radio import Radio, RadioSettings, Receiver
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology

__all__ = ["Network"]

_Program = TypeVar("_Program", bound=Receiver)


class Network:
    """All motes of a topology, ready for programs. The same seed gives the same run.

    ``most_skew_us`` is the largest difference between a mote's clock and the simulation's (tau_c between two motes is
    twice that): drawn per mote.

    >>> from skerry.network.message import Kind, Message
    >>> from skerry.network.topology.grid import make_grid
    >>> class Echo:
    ...     def __init__(self, board: Board) -> None:
    ...         self.board = board
    ...     def receive(self, sender: int, message: Message) -> None:
    ...         print(f"{self.board.mote} heard {sender}")
    >>> network = Network(make_grid(1, 3), seed=4)
    >>> programs = network.install(Echo)
    >>> network.boards[1].broadcast(Message(Kind.CONTROL, (), 11))
    >>> network.simulation.run()
    2 heard 1
    0 heard 1
    """

    def __init__(
        self, topology: Topology, settings: RadioSettings | None = None, seed: int = 0, most_skew_us: int = 0
    ) -> None:
        self.topology, self.simulation = topology, Simulation()
        self.radio = Radio(self.simulation, topology, settings or RadioSettings(), seed)
        skews = Random(f"skew {seed}")
        self.boards = [
            Board(mote, self.simulation, self.radio, skews.randint(-most_skew_us, most_skew_us))
            for mote in range(len(topology))
        ]

    def install(self, make: Callable[[Board], _Program]) -> list[_Program]:
        """Put a program on every mote, in order, and have it receive what comes for its mote."""
        programs = [make(board) for board in self.boards]
        for board, program in zip(self.boards, programs, strict=True):
            self.radio.attach(board.mote, program)
        return programs
