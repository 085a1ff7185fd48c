"""The middle of a topology, without looking at it from every mote."""

import numpy as np

from skerry.network.topology.topology import Topology

__all__ = ["find_middle"]


def find_middle(topology: Topology) -> int:
    """The mote that is least far from the one that is farthest from it; of several, the one nearest to all.

    What is seen from one mote bounds how far others are from the farthest (Takes, Kosters: *Computing the eccentricity
    distribution of large graphs*, 2013). So most motes need no look around: of 10,000 in a grid, fewer than ten have
    one. Where not all can reach each other there is no middle, and it is mote 0.

    >>> from skerry.network.topology.grid import make_grid
    >>> find_middle(make_grid(3, 5)), find_middle(make_grid(100, 100))
    (7, 4949)
    """
    size = len(topology)
    if size == 0 or not topology.is_connected:
        return 0
    least = np.zeros(size, np.int64)
    """How far each is from its farthest, at least; those that were looked at are left out."""
    best, at = (size, size * size, size), 0
    is_near = True
    while True:
        hops = np.array(topology.distances_from(at))
        farthest = int(hops.max())
        best = min(best, (farthest, int(hops.sum()), at))
        np.maximum(least, np.maximum(hops, farthest - hops), out=least, where=least >= 0)
        least[at] = -1
        open_ones = np.flatnonzero((least >= 0) & (least <= best[0]))
        if not open_ones.size:
            return best[2]
        is_near = not is_near
        bounds = least[open_ones]
        at = int(open_ones[bounds.argmin() if is_near else bounds.argmax()])
