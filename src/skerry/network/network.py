"""A network at work: simulated time, a radio, and a board per mote, made from a topology and a seed."""

from collections.abc import Callable
from random import Random
from typing import TypeVar

from skerry.errors import RunError
from skerry.network.make_radio import make_radio
from skerry.network.mote import Board
from skerry.network.radio import RadioSettings, Receiver
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology

__all__ = ["Network"]

_Program = TypeVar("_Program", bound=Receiver)


class Network:
    """All motes of a topology, ready for programs. The same seed gives the same run.

    ``most_skew_us`` (tau_c) is the largest difference between two clocks: each mote's is drawn to be up to so much
    ahead.

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
    0 heard 1
    2 heard 1
    """

    def __init__(
        self, topology: Topology, settings: RadioSettings | None = None, seed: int = 0, most_skew_us: int = 0
    ) -> None:
        self.simulation, self.most_skew_us = Simulation(), most_skew_us
        chosen = settings or RadioSettings()
        self.radio = make_radio(self.simulation, topology, chosen, seed)
        skews = Random(f"skew {seed}")
        self.boards = [
            Board(mote, self.simulation, self.radio, skews.randint(0, most_skew_us)) for mote in range(len(topology))
        ]
        self._make: Callable[[Board], Receiver] | None = None
        self.on_change: Callable[[], None] | None = None
        """Is called when a link comes or goes, or a mote dies or is back: what a routing layer would find out."""

    @property
    def topology(self) -> Topology:
        """The links, as they are now."""
        return self.radio.topology

    @property
    def living_topology(self) -> Topology:
        """The links between motes that are alive."""
        topology = self.topology
        for board in self.boards:
            for other in () if board.is_alive else topology.neighbours[board.mote]:
                topology = topology.cut(board.mote, other)
        return topology

    def install(self, make: Callable[[Board], _Program]) -> list[_Program]:
        """Put a program on every mote, in order, and have it receive what comes for its mote."""
        self._make = make
        programs = [make(board) for board in self.boards]
        for board, program in zip(self.boards, programs, strict=True):
            self.radio.attach(board.mote, program if board.is_alive else None)
        return programs

    def kill(self, mote: int) -> None:
        """Have a mote die: it hears, sends and remembers nothing. Nobody is informed."""
        self.boards[mote].die()
        self.radio.silence(mote)
        self.radio.attach(mote, None)
        self._notice_change()

    def revive(self, mote: int) -> Receiver:
        """Start a dead mote again, with a fresh program of the kind that was installed last."""
        if self._make is None or self.boards[mote].is_alive:
            raise RunError(f"mote {mote} {'is alive' if self.boards[mote].is_alive else 'never had a program'}")
        self.boards[mote].come_back()
        program = self._make(self.boards[mote])
        self.radio.attach(mote, program)
        self._notice_change()
        return program

    def reboot(self) -> None:
        """Have all motes that are alive forget everything, also what they wanted to do; deaf until ``install``."""
        for board in self.boards:
            if board.is_alive:
                board.die()
                board.come_back()
                self.radio.silence(board.mote)
                self.radio.attach(board.mote, None)

    def join(self, one: int, other: int) -> None:
        """Have a link from now on; the boards of both ends say so to their programs."""
        self._change_links(self.topology.join(one, other), one, other)

    def cut(self, one: int, other: int) -> None:
        """Have a link no longer."""
        self._change_links(self.topology.cut(one, other), one, other)

    def _change_links(self, topology: Topology, *ends: int) -> None:
        self.radio.connect(topology)
        for mote in ends:
            self.boards[mote].change_links(topology.neighbours[mote])
        self._notice_change()

    def _notice_change(self) -> None:
        if self.on_change is not None:
            self.on_change()
