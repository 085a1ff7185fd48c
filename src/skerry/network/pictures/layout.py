"""Where motes are drawn: where they stand, or, if nobody knows, so that hops look like distances."""

import numpy as np

from skerry.model.arrays import Float64s
from skerry.network.topology.topology import Topology

__all__ = ["lay_out"]

_PIVOTS = 60
_MOST_RELAXED = 600
_ROUNDS = 120


def lay_out(topology: Topology) -> Float64s:
    """A point per mote in the unit square, rows downwards; the longer side of the field fills it.

    >>> from skerry.network.topology.grid import make_grid
    >>> lay_out(make_grid(2, 3)).tolist()
    [[0.0, 0.25], [0.5, 0.25], [1.0, 0.25], [0.0, 0.75], [0.5, 0.75], [1.0, 0.75]]
    """
    if topology.positions is not None:
        return _fit(np.array(topology.positions, np.float64).reshape(-1, 2))
    spread = _spread_by_hops(topology)
    return _fit(_relax(spread, topology) if 2 < len(topology) <= _MOST_RELAXED else spread)


def _fit(points: Float64s) -> Float64s:
    """Into the unit square, in the middle, without distortion."""
    if not len(points):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max()) or 1.0
    fitted: Float64s = (points - (low + high) / 2) / size + 0.5
    return fitted


def _spread_by_hops(topology: Topology) -> Float64s:
    """Brandes, Pich: Eigensolver Methods for Progressive Multidimensional Scaling of Large Data, 2006."""
    size = len(topology)
    hops = np.array([topology.distances_from(pivot) for pivot in _choose_pivots(topology)], np.float64).T
    hops[hops < 0] = hops.max(initial=0) + 2
    squares = hops**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean())
    _, vectors = np.linalg.eigh(centred.T @ centred)
    found = np.zeros((size, 2))
    axes = centred @ vectors[:, ::-1][:, :2]
    found[:, : axes.shape[1]] = axes / (np.abs(axes).max(initial=0) or 1.0)
    return found


def _choose_pivots(topology: Topology) -> list[int]:
    """Motes far from each other: each is one of the farthest from those before it."""
    size = len(topology)
    if size <= _PIVOTS:
        return list(range(size))
    pivots, nearest = [0], np.full(size, np.inf)
    while len(pivots) < _PIVOTS:
        hops = np.array(topology.distances_from(pivots[-1]), np.float64)
        hops[hops < 0] = np.inf
        nearest = np.minimum(nearest, hops)
        pivots.append(int(nearest.argmax()))
    return pivots


def _relax(points: Float64s, topology: Topology) -> Float64s:
    """Pull links to one length and push all else apart, less and less.

    Fruchterman, Reingold: Graph Drawing by Force-Directed Placement, 1991.
    """
    size = len(points)
    length = 2.0 / np.sqrt(size)
    linked = np.zeros((size, size), bool)
    for one, other in topology.links:
        linked[one, other] = True
    moved = points + np.random.default_rng(0).normal(0, length / 100, points.shape)
    for step in np.linspace(length, length / 50, _ROUNDS):
        apart = moved[:, None] - moved[None]
        distance = np.maximum(np.linalg.norm(apart, axis=2), length / 1000)
        force = length**2 / distance**2 - linked * distance / length
        pull = (apart * force[:, :, None]).sum(axis=1)
        far = np.maximum(np.linalg.norm(pull, axis=1, keepdims=True), 1e-12)
        moved = moved + pull / far * np.minimum(far, step)
    relaxed: Float64s = moved
    return relaxed
