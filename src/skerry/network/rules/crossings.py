"""Rows and columns on any connected topology: levels on which tuples are stored, and walks that meet every level.

From a boundary breadth-first levels are counted. A tuple is stored on its source's level, and joined along a walk that
meets all levels. On a grid with its first row as the boundary, levels are rows and walks are columns. Within a range of
k hops, a walk meets all levels that are within k hops of its source, and stays as near; a tuple is then stored on the
motes of its level within 2 k hops, on a grid within k.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from skerry.network.rules.routes import Routes
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology

__all__ = ["Crossings", "find_crossings", "find_grid_columns"]


@dataclass(frozen=True)
class Crossings:
    """One mote's part of everybody's levels and walks, as if a set-up phase had found them."""

    keeps: frozenset[int]
    """The sources whose tuples are stored here."""
    relays: frozenset[int]
    """Those whose tuples are sent on from here."""
    walk: tuple[int, ...]
    """The motes that a tuple from here walks along."""
    ahead: dict[tuple[int, int], int]
    """By source and position on its walk, here: who is next."""
    storage_hops: int
    """The longest way, of any source, from it to where its tuples are stored."""
    walk_hops: int
    """The longest walk, with the way to its beginning."""


@dataclass(frozen=True)
class _Storage:
    """Who stores what comes from a source, who sends it on, and how many hops that takes."""

    kept: frozenset[int]
    relays: frozenset[int]
    hops: int


def find_grid_columns(topology: Topology) -> int | None:
    """How many columns a topology has if it is a grid; None if it is none.

    >>> find_grid_columns(make_grid(2, 3)), find_grid_columns(Topology.of_links(3, [(0, 1), (1, 2), (2, 0)]))
    (3, None)
    """
    for columns in range(1, len(topology) + 1):
        rows, rest = divmod(len(topology), columns)
        if not rest and make_grid(rows, columns).neighbours == topology.neighbours:
            return columns
    return None


def find_crossings(topology: Topology, routes: Sequence[Routes], reach: int | None) -> list[Crossings]:
    """The parts of all motes; ``reach`` is how far tuples that join can be apart, None if nothing is known."""
    columns = find_grid_columns(topology)
    levels = _find_levels(topology, routes, columns)
    walks = [_find_walk(mote, topology, routes, levels, reach) for mote in range(len(topology))]
    radius = None if reach is None else reach if columns is not None else 2 * reach
    stored = [_find_storage(mote, routes, levels, radius) for mote in range(len(topology))]
    storage_hops = max((each.hops for each in stored), default=0)
    walk_hops = max((routes[mote].hops[walk[0]] + len(walk) for mote, walk in enumerate(walks)), default=0)
    return [
        Crossings(
            frozenset(source for source, each in enumerate(stored) if mote in each.kept),
            frozenset(source for source, each in enumerate(stored) if mote in each.relays),
            walks[mote],
            {
                (source, index): walk[index + 1]
                for source, walk in enumerate(walks)
                for index in range(len(walk) - 1)
                if walk[index] == mote
            },
            storage_hops,
            walk_hops,
        )
        for mote in range(len(topology))
    ]


def _find_levels(topology: Topology, routes: Sequence[Routes], columns: int | None) -> list[int]:
    """Hops from the boundary: a grid's first row, else, in each connected part, the mote farthest from the first."""
    if columns is not None:
        return [mote // columns for mote in range(len(topology))]
    levels = [-1] * len(topology)
    for mote in range(len(topology)):
        if levels[mote] < 0:
            hops = routes[mote].hops
            far = max(range(len(hops)), key=lambda other: (hops[other], -other))
            for other, distance in enumerate(routes[far].hops):
                if distance >= 0:
                    levels[other] = distance
    return levels


def _find_walk(
    mote: int, topology: Topology, routes: Sequence[Routes], levels: Sequence[int], reach: int | None
) -> tuple[int, ...]:
    """From the nearest of the highest motes in range down to the lowest: by way of the source, if there is a range."""
    hops = routes[mote].hops
    near = [other for other, distance in enumerate(hops) if distance >= 0 and (reach is None or distance <= reach)]
    top = min(near, key=lambda other: (-levels[other], hops[other], other))
    if reach is None:
        return tuple(_descend(top, topology, levels, len(topology)))
    path = [top]
    while path[-1] != mote:
        hop = routes[path[-1]].next_hop(mote)
        assert hop is not None
        path.append(hop)
    return (*path, *_descend(mote, topology, levels, reach)[1:])


def _descend(mote: int, topology: Topology, levels: Sequence[int], most: int) -> list[int]:
    """From a mote to the boundary, level by level, at most so many hops."""
    path = [mote]
    while len(path) <= most:
        lower = [other for other in topology.neighbours[path[-1]] if levels[other] == levels[path[-1]] - 1]
        if not lower:
            break
        path.append(lower[0])
    return path


def _find_storage(mote: int, routes: Sequence[Routes], levels: Sequence[int], radius: int | None) -> _Storage:
    """The motes that store what comes from a source, and those that send it on: a tree of short ways over them."""
    hops = routes[mote].hops
    kept = [
        other
        for other, distance in enumerate(hops)
        if distance >= 0 and levels[other] == levels[mote] and (radius is None or distance <= radius)
    ]
    depths, relays = {mote: 0}, set[int]()
    for other in sorted(kept, key=lambda each: (hops[each], each)):
        here = min(depths, key=lambda each: (routes[each].hops[other], depths[each], each))
        while here != other:
            relays.add(here)
            hop = routes[here].next_hop(other)
            assert hop is not None
            depths[hop] = min(depths[here] + 1, depths.get(hop, depths[here] + 1))
            here = hop
    return _Storage(frozenset(kept), frozenset(relays), max(depths.values()))
