"""What a search for shortest paths found, beside what there was to find."""

from dataclasses import dataclass

from skerry.network.tally import Tally
from skerry.network.topology.topology import Topology

__all__ = ["FoundPaths", "LastStep", "list_last_steps"]

LastStep = tuple[int, int, int]
"""(x, y, d): y is reached in d steps, the last one from x. The paper's H(x, y, d); that of the root is (A, A, 0)."""


@dataclass(frozen=True)
class FoundPaths:
    """Distances, None where a mote has none; the last steps of the paths; and what finding them took.

    ``most_kept`` is how many distances of neighbours the mote with the most has kept.
    """

    distances: tuple[int | None, ...]
    last_steps: frozenset[LastStep]
    tally: Tally
    most_kept: int

    def count_missed(self, true_steps: frozenset[LastStep]) -> int:
        """How many last steps were not found."""
        return len(true_steps - self.last_steps)

    def count_wrong(self, true_steps: frozenset[LastStep]) -> int:
        """How many were found that are none."""
        return len(self.last_steps - true_steps)


def list_last_steps(topology: Topology, root: int) -> frozenset[LastStep]:
    """Every last step of a shortest path, by a search that sees all links.

    >>> square = Topology.of_links(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    >>> sorted(list_last_steps(square, 0))
    [(0, 0, 0), (0, 1, 1), (0, 2, 1), (1, 3, 2), (2, 3, 2)]
    """
    hops = topology.distances_from(root)
    steps = ((one, other, hops[other]) for one, other in topology.links if hops[one] >= 0)
    return frozenset({(root, root, 0), *((x, y, d) for x, y, d in steps if hops[x] + 1 == d)})
