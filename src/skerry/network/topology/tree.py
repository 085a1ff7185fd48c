"""Trees: mote 0 is the root, and links are those between parents and children."""

from random import Random

from skerry.errors import InputError
from skerry.network.topology.topology import Topology

__all__ = ["make_tree"]


def make_tree(size: int, fan_out: int, seed: int | None = None) -> Topology:
    """A tree in which nobody has more than ``fan_out`` children: filled level by level, or drawn if there is a seed.

    >>> make_tree(7, 2).neighbours[1]
    (0, 3, 4)
    """
    if size < 1 or fan_out < 1:
        raise InputError(f"a tree has 1 mote or more, and a fan-out of 1 or more; got {size} and {fan_out}")
    name = f"tree:{size}:{fan_out}" + ("" if seed is None else f":{seed}")
    parents = [(mote - 1) // fan_out for mote in range(1, size)] if seed is None else _draw(size, fan_out, seed)
    return Topology.of_links(size, zip(parents, range(1, size), strict=True), name=name)


def _draw(size: int, fan_out: int, seed: int) -> list[int]:
    """The parent of each mote but the root: one of the earlier motes that may still have a child."""
    random, parents = Random(seed), []
    free = [0] * fan_out
    for mote in range(1, size):
        parents.append(free.pop(random.randrange(len(free))))
        free += [mote] * fan_out
    return parents
