"""A tree over all motes: everybody's parent is the neighbour that is next on the way to the root."""

from dataclasses import dataclass
from functools import cached_property

from skerry.errors import InputError
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.topology.topology import Topology

__all__ = ["Tree", "find_tree"]


@dataclass(frozen=True)
class Tree:
    """Parents by mote; None for the root and for motes that are not in the tree.

    >>> from skerry.network.topology.grid import make_grid
    >>> tree = find_tree(make_grid(2, 2), root=0)
    >>> tree.parents, tree.children, tree.depths
    ((None, 0, 0, 1), ((1, 2), (3,), (), ()), (0, 1, 1, 2))
    """

    root: int
    parents: tuple[int | None, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Of each mote, in order."""
        found: list[list[int]] = [[] for _ in self.parents]
        for mote, parent in enumerate(self.parents):
            if parent is not None:
                found[parent].append(mote)
        return tuple(map(tuple, found))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Hops up to the root; -1 of motes that are not in the tree."""
        depths, level, depth = [-1] * len(self.parents), [self.root], 0
        while level:
            for mote in level:
                depths[mote] = depth
            level, depth = [child for mote in level for child in self.children[mote]], depth + 1
        return tuple(depths)


def find_tree(topology: Topology, root: int) -> Tree:
    """The breadth-first tree from a root: everybody is as near to it as can be. (By messages: ``build_tree``)."""
    if not 0 <= root < len(topology):
        raise InputError(f"the root is one of the motes 0 to {len(topology) - 1}; got {root}")
    paths = ShortestPaths(topology)
    return Tree(root, tuple(paths.next_hop(mote, root) for mote in range(len(topology))))
