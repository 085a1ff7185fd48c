"""Shortest paths from one mote to all while links come and go, by hand: every mote minds what its neighbours last said.

A mote's distance is one more than the least of its neighbours', and it says so whenever that changes. Where the root is
cut off, motes count each other up to a limit before they give up, as in any protocol of distance vectors.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from skerry.errors import InputError
from skerry.network.make_radio import make_radio
from skerry.network.message import Message
from skerry.network.mote import Board
from skerry.network.radio import Radio, RadioSettings
from skerry.network.simulation import Simulation
from skerry.network.topology.topology import Topology
from skerry.rivals.network.found_paths import FoundPaths, LastStep
from skerry.rivals.network.shortest_paths import announce, check_root

__all__ = ["LinkChange", "VigilantMote", "apply_change", "find_changing_paths"]

_UNREACHED = -1
"""What a mote announces that has no way to the root."""


@dataclass(frozen=True)
class LinkChange:
    """At a time a link, both ways, comes (``up``) or goes."""

    time_us: int
    one: int
    other: int
    up: bool


class VigilantMote:
    """Knows its links, what each neighbour said last, and its own distance, which is at most ``limit``."""

    def __init__(self, board: Board, is_root: bool, limit: int) -> None:
        self.distance = 0 if is_root else None
        self.heard: dict[int, int] = {}
        self._board, self._is_root, self._limit = board, is_root, limit
        self._linked = set(board.neighbours)

    def start(self) -> None:
        """Say how far it is, if it knows."""
        if self.distance is not None:
            self._board.broadcast(announce(self.distance))

    def receive(self, sender: int, message: Message) -> None:
        """A neighbour has changed its distance; what was under way when a link went does not count."""
        if sender in self._linked:
            self._mind(sender, message.body[0])

    def see_link(self, neighbour: int, up: bool) -> None:
        """A link has come: its other end must hear of this mote. Or it has gone, with what came over it."""
        if up:
            self._linked.add(neighbour)
            self._board.send(neighbour, self._announce())
        else:
            self._linked.discard(neighbour)
            self._mind(neighbour, _UNREACHED)

    def list_last_steps(self) -> set[LastStep]:
        """The neighbours from which the shortest ways come."""
        own = self.distance
        if own == 0:
            return {(self._board.mote, self._board.mote, 0)}
        return {(x, self._board.mote, own) for x, theirs in self.heard.items() if own is not None and theirs + 1 == own}

    def _mind(self, neighbour: int, theirs: int) -> None:
        if theirs == _UNREACHED:
            self.heard.pop(neighbour, None)
        else:
            self.heard[neighbour] = theirs
        before, self.distance = self.distance, self._settle()
        if self.distance != before:
            self._board.broadcast(self._announce())

    def _settle(self) -> int | None:
        if self._is_root:
            return 0
        least = min(self.heard.values(), default=self._limit) + 1
        return least if least <= self._limit else None

    def _announce(self) -> Message:
        return announce(_UNREACHED if self.distance is None else self.distance)


def find_changing_paths(
    topology: Topology,
    changes: Iterable[LinkChange],
    root: int,
    settings: RadioSettings,
    seed: int = 0,
    limit: int = 64,
) -> FoundPaths:
    """Run the search while links change, until nobody has anything to say.

    >>> line = Topology.of_links(3, [(0, 1), (1, 2)])
    >>> cut = LinkChange(1_000_000, 1, 2, up=False)
    >>> find_changing_paths(line, [cut], 0, RadioSettings(), limit=5).distances
    (0, 1, None)
    """
    check_root(topology, root)
    simulation = Simulation()
    radio = make_radio(simulation, topology, settings, seed)
    motes = [VigilantMote(Board(each, simulation, radio), each == root, limit) for each in range(len(topology))]
    for number, mote in enumerate(motes):
        radio.attach(number, mote)
        mote.start()
    for change in changes:
        simulation.at(change.time_us, _change_link, radio, motes, change)
    simulation.run()
    steps = frozenset(step for mote in motes for step in mote.list_last_steps())
    kept = max(len(mote.heard) for mote in motes)
    return FoundPaths(tuple(mote.distance for mote in motes), steps, radio.tally, kept)


def apply_change(topology: Topology, change: LinkChange) -> Topology:
    """A topology with a link more or less.

    >>> line = Topology.of_links(3, [(0, 1), (1, 2)])
    >>> apply_change(line, LinkChange(0, 2, 1, up=False)).neighbours
    ((1,), (0,), ())
    """
    link = (min(change.one, change.other), max(change.one, change.other))
    links = {(one, other) for one, other in topology.links if one < other}
    if change.up == (link in links):
        raise InputError(
            f"the link between {link[0]} and {link[1]} {'is there already' if change.up else 'is not there'}"
        )
    after = links | {link} if change.up else links - {link}
    return Topology.of_links(len(topology), after, topology.positions, topology.losses, topology.name)


def _change_link(radio: Radio, motes: list[VigilantMote], change: LinkChange) -> None:
    radio.connect(apply_change(radio.topology, change))
    for here, there in ((change.one, change.other), (change.other, change.one)):
        motes[here].see_link(there, change.up)
