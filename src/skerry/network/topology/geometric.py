"""Random fields: motes drawn uniformly in the unit square, which hear each other within a range."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import dist
from random import Random

from skerry.errors import InputError
from skerry.network.topology.topology import Position, Topology

__all__ = ["make_field_with_hole", "make_geometric"]

_DRAWS = 100


def make_geometric(size: int, reach: float, seed: int = 0) -> Topology:
    """The first field of a seed that is connected.

    >>> field = make_geometric(50, 0.3, seed=1)
    >>> len(field), field.is_connected
    (50, True)
    """
    return _draw(size, reach, seed, lambda position: True, f"geometric:{size}:{reach:g}:{seed}")


def make_field_with_hole(size: int, reach: float, seed: int = 0) -> Topology:
    """A connected field with nobody in a disc of radius 0.25 around the middle: greedy routes get stuck at its rim.

    >>> field = make_field_with_hole(80, 0.25)
    >>> min(dist(position, (0.5, 0.5)) for position in field.positions) >= 0.25
    True
    """
    return _draw(size, reach, seed, _is_outside_hole, f"holes:{size}:{reach:g}:{seed}")


def _is_outside_hole(position: Position) -> bool:
    return dist(position, (0.5, 0.5)) >= 0.25


def _draw(size: int, reach: float, seed: int, is_allowed: Callable[[Position], bool], name: str) -> Topology:
    if size < 1 or reach <= 0.0:
        raise InputError(f"a field has 1 mote or more, and a range above 0; got {size} and {reach:g}")
    random = Random(seed)
    for _ in range(_DRAWS):
        positions = _draw_positions(size, random, is_allowed)
        field = Topology.of_links(size, _links_within(positions, reach), positions, name=name)
        if field.is_connected:
            return field
    raise InputError(
        f"none of {_DRAWS} fields of {size} motes with a range of {reach:g} is connected; try a longer one"
    )


def _draw_positions(size: int, random: Random, is_allowed: Callable[[Position], bool]) -> list[Position]:
    found: list[Position] = []
    while len(found) < size:
        position = (random.random(), random.random())
        if is_allowed(position):
            found.append(position)
    return found


def _links_within(positions: Sequence[Position], reach: float) -> Iterator[tuple[int, int]]:
    """Pairs at most ``reach`` apart, found among the motes of neighbouring squares of that side."""
    squares: dict[tuple[int, int], list[int]] = defaultdict(list)
    for mote, (x, y) in enumerate(positions):
        column, row = int(x / reach), int(y / reach)
        for near in ((column + c, row + r) for c in (-1, 0, 1) for r in (-1, 0, 1)):
            for other in squares.get(near, ()):
                if dist(positions[other], (x, y)) <= reach:
                    yield other, mote
        squares[column, row].append(mote)
