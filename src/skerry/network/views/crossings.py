"""Levels and walks of any connected topology: what goes along a level meets what walks across them, exactly once.

From a boundary, levels are counted breadth first. Rows of one stream go to all motes of the level that they arise on.
Rows of another walk to one mote of every level: down to the boundary, and up to the highest level by the shortest way,
on which each level is met for the first time at one mote. On a grid whose first row is the boundary, levels are rows
and walks are columns.

    level 2   6 ─ 7 ─ 8       a row of 3 goes to 3, 4 and 5
    level 1   3 ─ 4 ─ 5       a row of 7 goes to 7, 4 and 1: they meet at 4
    level 0   0 ─ 1 ─ 2

Gupta, Zhu, Xu: Deductive Framework for Programming Sensor Networks, 2009, section 3 (the perpendicular approach).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from skerry.network.routing.delivery_tree import DeliveryTree, connect, hang
from skerry.network.topology.topology import Topology

__all__ = ["Crossings", "choose_crossings"]


@dataclass(frozen=True)
class Crossings:
    """The levels of a topology from a boundary, and its walks.

    >>> from skerry.network.topology.grid import make_grid
    >>> crossings = Crossings(make_grid(3, 3), (0, 1, 2))
    >>> sorted(crossings.find_level(3).keeps), sorted(crossings.find_walk(7).keeps), crossings.find_meeting(3, 7)
    ([3, 4, 5], [1, 4, 7], 4)
    """

    topology: Topology
    boundary: tuple[int, ...]

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Hops from the boundary."""
        return _search(self.topology, self.boundary)[0]

    @cached_property
    def _down(self) -> tuple[int, ...]:
        return _search(self.topology, self.boundary)[1]

    @cached_property
    def _upwards(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Hops to the nearest mote of the highest level, and who is next on the way."""
        top = max(self.levels)
        return _search(self.topology, [mote for mote, level in enumerate(self.levels) if level == top])

    @cached_property
    def _level_links(self) -> list[dict[int, set[int]]]:
        """A tree over the motes of each level."""
        members: list[list[int]] = [[] for _ in range(max(self.levels) + 1)]
        for mote, level in enumerate(self.levels):
            members[level].append(mote)
        return [connect(self.topology, each) for each in members]

    def find_level(self, source: int) -> DeliveryTree:
        """The way of a row to all motes of its level."""
        level = self.levels[source]
        keeps = (mote for mote, other in enumerate(self.levels) if other == level)
        return hang(self._level_links[level], source, keeps)

    def find_walk(self, source: int) -> DeliveryTree:
        """The way of a row to one mote of every level."""
        parents: dict[int, int] = {}
        for one, other in (*pairwise(self._follow(self._down, source)), *pairwise(self._follow_up(source))):
            if other != source:
                parents.setdefault(other, one)
        children: dict[int, tuple[int, ...]] = {}
        for child, parent in parents.items():
            children[parent] = (*children.get(parent, ()), child)
        return DeliveryTree(source, children, frozenset(self._list_met(source)))

    def find_meeting(self, on_level: int, walking: int) -> int:
        """Where a row that goes along its level meets one that walks, by where both arise."""
        return self._list_met(walking)[self.levels[on_level]]

    def _list_met(self, source: int) -> list[int]:
        """The mote of each level that a walk meets: the levels below on its way down, those above on its way up."""
        found = {self.levels[mote]: mote for mote in self._follow(self._down, source)}
        for mote in self._follow_up(source):
            found.setdefault(self.levels[mote], mote)
        return [found[level] for level in range(len(found))]

    def _follow_up(self, source: int) -> list[int]:
        return self._follow(self._upwards[1], source)

    @staticmethod
    def _follow(following: Sequence[int], mote: int) -> list[int]:
        way = [mote]
        while following[way[-1]] != way[-1]:
            way.append(following[way[-1]])
        return way

    def rate(self) -> float:
        """About how many transmissions a row on its level and a walking one take together, summed over all motes."""
        inner = [sum(len(near) > 1 for near in links.values()) for links in self._level_links]
        return sum(inner[level] + level + up for level, up in zip(self.levels, self._upwards[0], strict=True))


def _search(topology: Topology, begin: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Hops to the nearest of some motes, and who is next on the way there: the lowest number; itself, if it is one."""
    hops, following = [-1] * len(topology), list(range(len(topology)))
    for mote in begin:
        hops[mote] = 0
    reached = sorted(begin)
    for mote in reached:
        for other in topology.neighbours[mote]:
            if hops[other] < 0:
                hops[other], following[other] = hops[mote] + 1, mote
                reached.append(other)
    return tuple(hops), tuple(following)


def choose_crossings(topology: Topology) -> Crossings:
    """From the boundary, of some, with which rows take the fewest transmissions if they arise everywhere alike."""
    return min((Crossings(topology, boundary) for boundary in dict.fromkeys(_list_boundaries(topology))), key=_rate)


def _rate(crossings: Crossings) -> float:
    return crossings.rate()


def _list_boundaries(topology: Topology) -> Iterator[tuple[int, ...]]:
    """Two ends of the topology; and the motes none of whose neighbours is farther to a side, where there are sides."""
    far = _find_farthest(topology, 0)
    yield (far,)
    yield (_find_farthest(topology, far),)
    if (positions := topology.positions) is not None:
        for axis in (1, 0):
            yield tuple(
                mote
                for mote, near in enumerate(topology.neighbours)
                if all(positions[other][axis] >= positions[mote][axis] for other in near)
            )


def _find_farthest(topology: Topology, mote: int) -> int:
    hops = topology.distances_from(mote)
    return max(range(len(hops)), key=lambda other: (hops[other], -other))
