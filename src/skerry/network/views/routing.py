"""The ways of rows as links are now: who is next, and along which trees rows go.

Which motes keep a row never changes, so that rows which belong together still meet at exactly one mote. Only the ways
there do, when links come and go: the routing layer finds that out, as it found the routes. Nobody is informed of a
death: what goes by way of a dead mote is lost until its links are cut.
"""

from skerry.network.network import Network
from skerry.network.routing.delivery_tree import DeliveryTree, connect, hang
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.views.deployment import Deployment
from skerry.network.views.way import Way

__all__ = ["Routing"]


class Routing:
    """Routes of a network whose links may change.

    >>> from skerry.network.topology.grid import make_grid
    >>> deployment = Deployment(make_grid(2, 3), 0)
    >>> network = Network(deployment.topology)
    >>> routing = Routing(deployment, network)
    >>> before = routing.next_hop(1, 0)
    >>> network.cut(0, 1)
    >>> before, routing.next_hop(1, 0)
    (0, 4)
    """

    def __init__(self, deployment: Deployment, network: Network) -> None:
        self._deployment, self._network = deployment, network
        self._topology, self._routes = deployment.topology, deployment.routes
        self._trees: dict[tuple[Way, int], DeliveryTree] = {}

    def next_hop(self, mote: int, target: int) -> int | None:
        """The neighbour that is next on the way; None if there is no way any more."""
        self._follow_links()
        return self._routes.next_hop(mote, target)

    def find_tree(self, way: Way, origin: int) -> DeliveryTree:
        """The tree of rows that arise at a mote."""
        self._follow_links()
        planned = self._deployment.deliveries.find(way, origin)
        if self._topology is self._deployment.topology:
            return planned
        if (way, origin) not in self._trees:
            self._trees[way, origin] = self._span(planned)
        return self._trees[way, origin]

    def _follow_links(self) -> None:
        if self._network.topology is not self._topology:
            self._topology = self._network.topology
            self._routes, self._trees = ShortestPaths(self._topology), {}

    def _span(self, planned: DeliveryTree) -> DeliveryTree:
        """A tree over links as they are now, to all that keep a row and can be reached."""
        hops = self._topology.distances_from(planned.root)
        reached = [mote for mote in planned.keeps if hops[mote] >= 0]
        return hang(connect(self._topology, [planned.root, *reached]), planned.root, reached)
