"""The trees along which rows go in a deployment: over cluster heads, along levels, across levels."""

from collections.abc import Callable
from functools import cached_property

from skerry.network.clusters.clusters import Clusters
from skerry.network.clusters.heed import form_clusters
from skerry.network.network import Network
from skerry.network.routing.delivery_tree import DeliveryTree, connect, hang
from skerry.network.topology.topology import Topology
from skerry.network.views.crossings import Crossings, choose_crossings
from skerry.network.views.way import Way

__all__ = ["Deliveries"]


class Deliveries:
    """Trees by way and by where a row arises, as a set-up phase would find them; that phase is not counted.

    >>> from skerry.network.topology.grid import make_grid
    >>> deliveries = Deliveries(make_grid(3, 3), seed=0)
    >>> len(deliveries.find(Way.LEVEL, 3).keeps), deliveries.find(Way.HEADS, 3).keeps == set(deliveries.clusters.heads)
    (3, True)
    """

    def __init__(self, topology: Topology, seed: int) -> None:
        self._topology, self._seed = topology, seed
        self._found: dict[tuple[Way, int], DeliveryTree] = {}

    @cached_property
    def clusters(self) -> Clusters:
        """Clusters by HEED, with full batteries and without loss."""
        return form_clusters(Network(self._topology), seed=self._seed)

    @cached_property
    def crossings(self) -> Crossings:
        """Levels, and walks across them."""
        return choose_crossings(self._topology)

    @cached_property
    def _head_links(self) -> dict[int, set[int]]:
        return connect(self._topology, self.clusters.heads)

    def find_head(self, mote: int) -> int:
        """The head of a mote's cluster."""
        head = self.clusters.head_of[mote]
        assert head is not None, "nobody is dead yet"
        return head

    def find(self, way: Way, source: int) -> DeliveryTree:
        """The tree of rows that arise at a mote."""
        found = self._found.get((way, source))
        if found is None:
            found = self._found[way, source] = self._makers[way](source)
        return found

    @cached_property
    def _makers(self) -> dict[Way, Callable[[int], DeliveryTree]]:
        return {
            Way.HEADS: self._make_heads_tree,
            Way.LEVEL: self.crossings.find_level,
            Way.WALK: self.crossings.find_walk,
        }

    def _make_heads_tree(self, source: int) -> DeliveryTree:
        """To all heads: by way of its own, unless it is on the tree itself."""
        links, heads = self._head_links, self.clusters.heads
        if source in links:
            return hang(links, source, heads)
        head = self.find_head(source)
        tree = hang(links, head, heads)
        return DeliveryTree(source, {source: (head,), **tree.children}, tree.keeps)
