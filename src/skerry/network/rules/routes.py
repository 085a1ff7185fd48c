"""What a mote knows of the ways to others: the next hop and the number of hops, as if a set-up phase had found them."""

from dataclasses import dataclass

from skerry.network.topology.topology import Topology

__all__ = ["Routes", "find_routes"]


@dataclass(frozen=True, slots=True)
class Routes:
    """One mote's routing table: by target, the next mote on the way, and how far it is; -1 where there is no way."""

    hops: tuple[int, ...]
    _next: tuple[int, ...]

    def next_hop(self, target: int) -> int | None:
        """The neighbour that is next on the way; None if there is no way, or none is needed."""
        found = self._next[target]
        return None if found < 0 else found


def find_routes(topology: Topology) -> list[Routes]:
    """The tables of all motes. Of neighbours that are equally near to a target, the one with the lowest number is next.

    >>> from skerry.network.topology.grid import make_grid
    >>> routes = find_routes(make_grid(3, 3))
    >>> routes[0].next_hop(8), routes[0].hops[8], routes[8].next_hop(8)
    (1, 4, None)
    """
    hops = [topology.distances_from(mote) for mote in range(len(topology))]
    return [Routes(hops[mote], _find_next_hops(topology, hops, mote)) for mote in range(len(topology))]


def _find_next_hops(topology: Topology, hops: list[tuple[int, ...]], mote: int) -> tuple[int, ...]:
    found = [-1] * len(topology)
    for neighbour in reversed(topology.neighbours[mote]):
        for target, left in enumerate(hops[neighbour]):
            if left >= 0 and left + 1 == hops[mote][target]:
                found[target] = neighbour
    return tuple(found)
