"""A tree along which a message goes from where it arises to all motes that are to have it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from skerry.network.topology.topology import Topology

__all__ = ["DeliveryTree", "Links", "connect", "hang"]

Links = Mapping[int, Collection[int]]
"""By mote, whom it is linked to: both ways."""


@dataclass(frozen=True)
class DeliveryTree:
    """Who passes a message on to whom, from the root down, and who keeps it.

    >>> tree = DeliveryTree(1, {1: (0, 2), 2: (3,)}, frozenset([0, 3]))
    >>> tree.parents, tree.order
    ({0: 1, 2: 1, 3: 2}, [1, 0, 2, 3])
    """

    root: int
    children: Mapping[int, tuple[int, ...]]
    """Of the motes that pass it on."""
    keeps: frozenset[int]

    @cached_property
    def parents(self) -> dict[int, int]:
        """From whom each mote but the root has it."""
        return {child: mote for mote, children in self.children.items() for child in children}

    @cached_property
    def order(self) -> list[int]:
        """All motes, each behind its parent."""
        found = [self.root]
        for mote in found:
            found += self.children.get(mote, ())
        return found


def connect(topology: Topology, motes: Iterable[int]) -> dict[int, set[int]]:
    """The links of a small tree that holds all of some motes, others on the way included.

    One after the other, the nearest mote that is left is linked by a shortest way (Takahashi, Matsuyama: An
    approximate solution for the Steiner problem in graphs, 1980): never twice as long as the shortest such tree.

    >>> from skerry.network.topology.grid import make_grid
    >>> sorted(connect(make_grid(2, 3), [0, 2]).items())
    [(0, {1}), (1, {0, 2}), (2, {1})]
    """
    left = set(motes)
    first = min(left)
    links: dict[int, set[int]] = {first: set()}
    left.discard(first)
    while left:
        way = _find_way(topology, links, left)
        for one, other in pairwise(way):
            links.setdefault(one, set()).add(other)
            links.setdefault(other, set()).add(one)
        left.difference_update(way)
    return links


def _find_way(topology: Topology, begin: Iterable[int], wanted: Collection[int]) -> list[int]:
    """From some motes to the nearest of the wanted ones, backwards."""
    before: dict[int, int | None] = dict.fromkeys(sorted(begin))
    reached = list(before)
    for mote in reached:
        for other in topology.neighbours[mote]:
            if other in before:
                continue
            before[other] = mote
            if other in wanted:
                return _trace(before, other)
            reached.append(other)
    raise AssertionError("motes of one connected topology")


def _trace(before: Mapping[int, int | None], mote: int) -> list[int]:
    way = [mote]
    while (previous := before[way[-1]]) is not None:
        way.append(previous)
    return way


def hang(links: Links, root: int, keeps: Iterable[int]) -> DeliveryTree:
    """A tree of links, seen from one of its motes.

    >>> hang({0: {1}, 1: {0, 2}, 2: {1}}, 1, [0, 2]).children
    {1: (0, 2)}
    """
    children: dict[int, tuple[int, ...]] = {}
    reached, seen = [root], {root}
    for mote in reached:
        new = tuple(other for other in sorted(links[mote]) if other not in seen)
        if new:
            children[mote] = new
            seen.update(new)
            reached += new
    return DeliveryTree(root, children, frozenset(keeps))
