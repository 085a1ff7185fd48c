"""A deployment: motes that take readings, and a base station that wants the answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from skerry.catalog import Source
from skerry.errors import InputError
from skerry.model.arrays import Int64s
from skerry.model.network_options import NETWORK_OPTIONS
from skerry.model.options import Owner, parse_options
from skerry.network.radio import RadioSettings
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.topology.find_middle import find_middle
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology
from skerry.network.views.deliveries import Deliveries
from skerry.network.views.odds import Odds

__all__ = ["Deployment", "find_deployment"]


@dataclass(frozen=True)
class Deployment:
    """A connected topology, its base station, and how its radio is.

    Motes know their next hop to every other, as a set-up phase would tell them; that phase is not counted.

    >>> from skerry.network.topology.grid import make_grid
    >>> deployment = Deployment(make_grid(3, 3), 4)
    >>> deployment.depths.tolist()
    [2, 1, 2, 1, 0, 1, 2, 1, 2]
    """

    topology: Topology
    base: int
    radio: RadioSettings = field(default_factory=RadioSettings)
    seed: int = 0

    def __post_init__(self) -> None:
        """Every mote must reach the base station."""
        if not 0 <= self.base < len(self.topology):
            raise InputError(f"the base station is mote {self.base}; {self.describe_motes()}")
        if not self.topology.is_connected:
            raise InputError(f"{self.topology.name} is not connected: some motes cannot reach the base station")

    def describe_motes(self) -> str:
        """Which motes there are."""
        return f"{self.topology.name} has 0 to {len(self.topology) - 1}"

    @cached_property
    def depths(self) -> Int64s:
        """Hops from each mote to the base station."""
        return np.array(self.topology.distances_from(self.base))

    @cached_property
    def routes(self) -> ShortestPaths:
        """The next hop from a mote to another."""
        return ShortestPaths(self.topology)

    @cached_property
    def deliveries(self) -> Deliveries:
        """Clusters, levels and walks, and the trees that follow from them."""
        return Deliveries(self.topology, self.seed)

    @cached_property
    def odds(self) -> Odds:
        """What is to be expected of messages."""
        return Odds(self.topology, self.radio)


def find_deployment(sources: Sequence[Source], folder: Path) -> Deployment | None:
    """The deployment that sources are in, if any. Files of links are looked for from ``folder`` on."""
    declared = {source.name: source for source in sources if source.network}
    if not declared:
        return None
    if len({_describe_network(each) for each in declared.values()}) > 1:
        raise InputError(f"sources {', '.join(sorted(declared))} are read together, but are in different networks")
    source = next(iter(declared.values()))
    found = parse_options(source.network, NETWORK_OPTIONS, Owner(f"source {source.name!r}"))
    topology = read_topology(_anchor(found["topology"], folder))
    base = find_middle(topology) if found["base_station"] is None else found["base_station"]
    radio = RadioSettings(loss=found["link_loss"], retries=found["link_retries"])
    return Deployment(topology, base, radio, found["link_seed"])


def _describe_network(source: Source) -> tuple[tuple[str, str], ...]:
    """What is said of its network, but for the name of a column, which may differ."""
    return tuple(sorted((name, value) for name, value in source.network.items() if name != "mote_column"))


def _anchor(text: str, folder: Path) -> str:
    """A topology whose files, if it has any, are looked for from a folder on."""
    kind, _, rest = text.partition(":")
    return ":".join([kind, *(str(folder / part) for part in rest.split(":"))]) if kind == "file" and rest else text
