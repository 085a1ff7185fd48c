"""Shortest paths from one mote to all, by a breadth-first search written for motes by hand.

A mote that hears of a shorter way takes it and says so, once:

    root  --0-->  a  --1-->  b  --2-->  ...

The procedural program of Gupta, Zhu: Deductive Approach for Programming Sensor Networks, section 4. It shares nothing
with rules on motes but the radio.
"""

from skerry.errors import InputError
from skerry.network.make_radio import make_radio
from skerry.network.message import HEADER_BYTES, Kind, Message, count_bytes
from skerry.network.mote import Board
from skerry.network.radio import RadioSettings
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology
from skerry.rivals.network.found_paths import FoundPaths, LastStep

__all__ = ["SearchingMote", "announce", "check_root", "find_shortest_paths"]


class SearchingMote:
    """Knows its own distance from the root, and the least that it heard from each neighbour.

    A neighbour's distance only falls, so of two messages that come in the wrong order the smaller number counts.
    """

    def __init__(self, board: Board) -> None:
        self.distance: int | None = None
        self.heard: dict[int, int] = {}
        self._board = board

    def start(self) -> None:
        """Be the root."""
        self.distance = 0
        self._board.broadcast(announce(0))

    def receive(self, sender: int, message: Message) -> None:
        """A neighbour has said how far it is from the root."""
        (theirs,) = message.body
        self.heard[sender] = min(theirs, self.heard.get(sender, theirs))
        if self.distance is None or theirs + 1 < self.distance:
            self.distance = theirs + 1
            self._board.broadcast(announce(self.distance))

    def list_last_steps(self) -> set[LastStep]:
        """The neighbours from which the shortest ways come, as far as this mote knows."""
        own = self.distance
        if own == 0:
            return {(self._board.mote, self._board.mote, 0)}
        return {(x, self._board.mote, own) for x, theirs in self.heard.items() if own is not None and theirs + 1 == own}


def find_shortest_paths(topology: Topology, root: int, settings: RadioSettings, seed: int = 0) -> FoundPaths:
    """Run the search until nobody has anything to say.

    >>> line = Topology.of_links(3, [(0, 1), (1, 2)])
    >>> found = find_shortest_paths(line, 0, RadioSettings())
    >>> found.distances, found.tally.total
    ((0, 1, 2), 3)
    """
    check_root(topology, root)
    simulation = Simulation()
    radio = make_radio(simulation, topology, settings, seed)
    motes = [SearchingMote(Board(mote, simulation, radio)) for mote in range(len(topology))]
    for number, mote in enumerate(motes):
        radio.attach(number, mote)
    motes[root].start()
    simulation.run()
    return FoundPaths(
        tuple(mote.distance for mote in motes),
        frozenset(step for mote in motes for step in mote.list_last_steps()),
        radio.tally,
        max(len(mote.heard) for mote in motes),
    )


def announce(distance: int) -> Message:
    """What a mote says of itself."""
    body = (distance,)
    return Message(Kind.RESULT, body, HEADER_BYTES + count_bytes(body))


def check_root(topology: Topology, root: int) -> None:
    """Refuse a root that is not there."""
    if not 0 <= root < len(topology):
        raise InputError(f"the root is one of the motes 0 to {len(topology) - 1}; got {root}")
