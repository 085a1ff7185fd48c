"""Routes by position: to the neighbour nearest to the target, and around what lies between when nobody is nearer.

Where no neighbour is nearer than the mote itself, the message walks depth first, nearest neighbours first, and carries
its trail and the motes that it has seen, until it meets a mote that is nearer than where it got stuck. From there it is
greedy again. So it gets to the target on every connected graph, whatever the positions.

Stojmenovic, Russell, Vukojevic: Depth first search and location based localized routing and QoS routing in wireless
networks, 2000.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import dist

from skerry.errors import InputError
from skerry.network.topology.topology import Position, Topology

__all__ = ["STRAIGHT", "Detour", "GeographicRouter", "find_route", "make_geographic_router"]

Detour = tuple[float, tuple[int, ...], tuple[int, ...]] | tuple[()]
"""What a message carries: nothing while it is greedy; else the distance to beat, its trail, and whom it has seen."""

STRAIGHT: Detour = ()


@dataclass(frozen=True)
class GeographicRouter:
    """What a mote knows: its own position and its neighbours', which they have said in a broadcast each.

    >>> router = GeographicRouter(0, (0.0, 0.0), {1: (1.0, 0.0), 2: (0.0, 1.0)})
    >>> router.next_hop(9, (5.0, 1.0))
    (1, ())
    >>> router.next_hop(9, (-5.0, -1.0))
    (2, (5.0990195135927845, (0,), (0, 2)))
    """

    mote: int
    position: Position
    neighbours: Mapping[int, Position]

    def next_hop(self, target: int, where: Position, detour: Detour = STRAIGHT) -> tuple[int | None, Detour]:
        """The neighbour that is next on the way to a mote at a position, and what the message carries there.

        None if this is the target, or if all that can be reached has been seen.
        """
        if target == self.mote:
            return None, STRAIGHT
        if target in self.neighbours:
            return target, STRAIGHT
        here = dist(self.position, where)
        if detour and here < detour[0]:
            detour = STRAIGHT
        if not detour:
            nearest = self._find_nearest(where, ())
            if nearest is not None and dist(self.neighbours[nearest], where) < here:
                return nearest, STRAIGHT
            detour = (here, (), (self.mote,))
        return self._walk(where, *detour)

    def _walk(
        self, where: Position, limit: float, trail: tuple[int, ...], seen: tuple[int, ...]
    ) -> tuple[int | None, Detour]:
        """Depth first: on to the nearest neighbour that was not seen, else back."""
        ahead = self._find_nearest(where, seen)
        if ahead is not None:
            return ahead, (limit, (*trail, self.mote), (*seen, ahead))
        return (trail[-1], (limit, trail[:-1], seen)) if trail else (None, STRAIGHT)

    def _find_nearest(self, where: Position, seen: tuple[int, ...]) -> int | None:
        free = (mote for mote in self.neighbours if mote not in seen)
        return min(free, key=lambda mote: (dist(self.neighbours[mote], where), mote), default=None)


def make_geographic_router(topology: Topology, mote: int) -> GeographicRouter:
    """What a mote would know after everybody has said their position."""
    positions = topology.positions
    if positions is None:
        raise InputError(f"routes by position need positions, and {topology.name} has none")
    return GeographicRouter(mote, positions[mote], {other: positions[other] for other in topology.neighbours[mote]})


def find_route(topology: Topology, start: int, target: int) -> list[int] | None:
    """The motes that a message would visit, with both ends; None if there is no way."""
    route, detour, positions = [start], STRAIGHT, topology.positions
    while route[-1] != target:
        router = make_geographic_router(topology, route[-1])
        assert positions is not None
        hop, detour = router.next_hop(target, positions[target], detour)
        if hop is None:
            return None
        route.append(hop)
    return route
