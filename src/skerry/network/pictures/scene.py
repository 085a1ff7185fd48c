"""What is drawn of a run: load per mote, what went over each link, and which links the answers name."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skerry.model.arrays import Float64s
from skerry.network.message import Kind
from skerry.network.pictures.layout import lay_out
from skerry.network.topology.topology import Topology
from skerry.network.trace import Transmission

__all__ = ["Link", "Scene"]

Link = tuple[int, int]


@dataclass(frozen=True)
class Scene:
    """A run, as it is drawn. ``steps`` are links that answers name, as H(x, y, d) names the one from x to y."""

    topology: Topology
    transmissions: Sequence[Transmission]
    title: str
    details: str = ""
    steps: frozenset[Link] = field(default_factory=frozenset)

    @cached_property
    def points(self) -> Float64s:
        """Where motes are drawn, in the unit square."""
        return lay_out(self.topology)

    @cached_property
    def spacing(self) -> float:
        """How far a mote is from its nearest, typically; of few motes, a fraction of the square."""
        count = len(self.points)
        if count < 2:
            return 0.2
        some = self.points[:: max(1, count // 400)]
        apart = np.linalg.norm(some[:, None] - self.points[None], axis=2)
        return float(min(0.2, max(np.median(np.partition(apart, 1, axis=1)[:, 1]), 0.3 / np.sqrt(count))))

    @cached_property
    def loads(self) -> list[int]:
        """Transmissions per mote."""
        counts = Counter(each.sender for each in self.transmissions)
        return [counts[mote] for mote in range(len(self.topology))]

    @cached_property
    def kinds(self) -> dict[Kind, int]:
        """Transmissions per kind, those without any left out."""
        counts = Counter(each.kind for each in self.transmissions)
        return {kind: counts[kind] for kind in Kind if counts[kind]}

    @cached_property
    def traffic(self) -> Counter[Link]:
        """Per link, both ways together and the lower mote first, how many messages were heard over it."""
        return Counter(_order(each.sender, mote) for each in self.transmissions for mote, _ in each.heard)

    @property
    def links(self) -> Iterable[Link]:
        """Every link once."""
        return ((one, other) for one, other in self.topology.links if one < other)


def _order(one: int, other: int) -> Link:
    return (one, other) if one < other else (other, one)
