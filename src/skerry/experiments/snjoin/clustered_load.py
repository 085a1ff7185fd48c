"""The paper's load for SNJoin*: sensors spread evenly over a square, in clusters, whose values follow Zipf's law."""

from dataclasses import dataclass, replace

import numpy as np

from skerry.experiments.snjoin.workload import RANK_COUNT, WINDOW_US, Load, Values, generate, make_steady
from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS
from skerry.network.clusters.heed import form_clusters
from skerry.network.network import Network
from skerry.network.topology.topology import Topology

__all__ = ["REACH", "ClusteredLoad", "find_operation_us", "make_clustered"]

REACH = 0.1
"""The range of a cluster, as a share of the side of the square."""
_RATE_HZ = 1


@dataclass(frozen=True)
class ClusteredLoad:
    """Tuples, and for each sensor its head."""

    load: Load
    head_of: Int64s

    @property
    def head_count(self) -> int:
        """How many clusters there are."""
        return int(np.unique(self.head_of).size)


def make_clustered(sensor_count: int, seconds: int, regions_a_side: int = 1, seed: int = 1) -> ClusteredLoad:
    """Tuples of sensors in clusters. With regions, sensors of different regions share no value.

    >>> clustered = make_clustered(50, seconds=2)
    >>> clustered.load.count > 50, 1 < clustered.head_count <= 50
    (True, True)
    """
    positions = np.random.default_rng(seed).random((sensor_count, 2))
    load = generate(make_steady(sensor_count, seconds), _RATE_HZ, Values(seed=seed))
    columns, rows = (np.minimum(positions * regions_a_side, regions_a_side - 1)).astype(np.int64).T
    regions = columns * regions_a_side + rows
    return ClusteredLoad(replace(load, keys=load.keys + RANK_COUNT * regions[load.sensors]), _gather(positions, seed))


def _gather(positions: Float64s, seed: int) -> Int64s:
    """For each sensor its head, as HEED finds them."""
    near = ((positions[:, None] - positions[None]) ** 2).sum(axis=2) <= REACH**2
    links = zip(*(ends.tolist() for ends in np.nonzero(np.triu(near, 1))), strict=True)
    clusters = form_clusters(Network(Topology.of_links(len(positions), links)), seed=seed)
    return np.array(clusters.head_of, np.int64)


def find_operation_us(clustered: ClusteredLoad, overload: float) -> float:
    """How slow heads are if a network that probes all, with a table per sensor, asks ``overload`` times their time.

    Per tuple and head: a message, a look into the table of each member, and the tuples that are found.
    """
    load, sensors = clustered.load, len(clustered.head_of)
    operations = clustered.head_count + sensors + _count_matches(load)
    busy_per_us = operations * sensors * _RATE_HZ / clustered.head_count / MICROS["SECOND"]
    return float(f"{overload / busy_per_us:.3g}")


def _count_matches(load: Load) -> float:
    """How many tuples share a tuple's value within the window, on average over those with a full window."""
    order = np.lexsort((load.times, load.keys))
    codes = np.searchsorted(np.unique(load.keys), load.keys[order]) * (2 * load.end_us + WINDOW_US) + load.times[order]
    counts = np.arange(codes.size) - np.searchsorted(codes, codes - WINDOW_US)
    full = load.times[order] >= WINDOW_US
    return float(counts[full].mean()) if full.any() else float(counts.mean())
