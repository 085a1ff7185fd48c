"""Routes with the fewest hops."""

from array import array
from dataclasses import dataclass

from skerry.network.topology.topology import Topology

__all__ = ["ShortestPaths"]


class ShortestPaths:
    """The next hops of all motes towards a target: those of a breadth-first tree from the target.

    A tree is made when a target is first asked for that is not next door, and kept: 4 bytes per mote and target. Of
    several neighbours that are equally near to the target, the one with the lowest number is next. A program on a mote
    gets the rows of its own mote only, with ``router``.

    >>> from skerry.network.topology.grid import make_grid
    >>> paths = ShortestPaths(make_grid(3, 3))
    >>> paths.next_hop(0, 8), paths.next_hop(8, 8), paths.path(0, 8), paths.router(4).next_hop(2)
    (1, None, [0, 1, 2, 5, 8], 1)
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._hops: dict[int, array[int]] = {}

    def next_hop(self, here: int, target: int) -> int | None:
        """The neighbour of ``here`` that is next on the way; None if there is no way, or none is needed."""
        hops = self._hops.get(target)
        if hops is None:
            if target in self._topology.neighbours[here]:
                return target
            hops = self._hops[target] = _find_next_hops(self._topology, target)
        found = hops[here]
        return None if found < 0 else found

    def change_links(self, topology: Topology) -> None:
        """Have these links from now on, as if the routing layer had found out."""
        self._topology = topology
        self._hops.clear()

    def path(self, here: int, target: int) -> list[int] | None:
        """All motes of the way, with both ends; None if there is none."""
        way = [here]
        while way[-1] != target:
            hop = self.next_hop(way[-1], target)
            if hop is None:
                return None
            way.append(hop)
        return way

    def router(self, mote: int) -> "ShortestPathRouter":
        """What one mote knows of it."""
        return ShortestPathRouter(self, mote)


@dataclass(frozen=True, slots=True)
class ShortestPathRouter:
    """The rows of one mote."""

    _paths: ShortestPaths
    _mote: int

    def next_hop(self, target: int) -> int | None:
        """The neighbour that is next on the way; None if there is no way, or none is needed."""
        return self._paths.next_hop(self._mote, target)


def _find_next_hops(topology: Topology, target: int) -> "array[int]":
    """Breadth first, level by level: motes of a level are taken in order, so the lowest neighbour comes first."""
    hops = array("i", [-1]) * len(topology)
    seen = bytearray(len(topology))
    seen[target] = 1
    level = [target]
    while level:
        following: list[int] = []
        for one in level:
            for other in topology.neighbours[one]:
                if not seen[other]:
                    seen[other] = 1
                    hops[other] = one
                    following.append(other)
        level = sorted(following)
    return hops
