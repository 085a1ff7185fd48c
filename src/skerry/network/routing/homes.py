"""Homes by hashing: a key's home is the mote nearest to the position that the key is hashed to.

Ratnasamy and others: GHT: a geographic hash table for data-centric storage, 2002.
"""

from functools import lru_cache
from hashlib import blake2b
from math import dist
from typing import Any

from skerry.network.topology.topology import Position, Topology

__all__ = ["Homes", "hash_key"]


class Homes:
    """Which mote keeps what has a key. Without positions, keys are spread over the numbers of motes.

    Every mote can tell the position of a key from the field's extent alone. That the mote nearest to it is known, as
    the homes of other motes are, is data from set-up.

    >>> from skerry.network.topology.grid import make_grid
    >>> homes = Homes(make_grid(4, 4))
    >>> homes.home(("veh", 7)) == homes.home(("veh", 7.0))
    True
    >>> len({homes.home(("veh", key)) for key in range(1000)})
    16
    """

    def __init__(self, topology: Topology) -> None:
        self._positions, self._size = topology.positions, len(topology)
        if topology.positions is not None:
            self._low, self._high = _find_corners(topology.positions)
        self.home = lru_cache(maxsize=100_000)(self._find_home)

    def position(self, key: Any) -> Position:
        """Where a key is hashed to, within the extent of the field."""
        number = hash_key(key)
        x, y = (number >> 32) / 2**32, (number & 0xFFFFFFFF) / 2**32
        (left, bottom), (right, top) = self._low, self._high
        return left + x * (right - left), bottom + y * (top - bottom)

    def _find_home(self, key: Any) -> int:
        """The mote that keeps a key; of equally near ones, that with the lowest number."""
        positions = self._positions
        if positions is None:
            return hash_key(key) % self._size
        where = self.position(key)
        return min(range(self._size), key=lambda mote: dist(positions[mote], where))


def hash_key(key: Any) -> int:
    """A number of 64 bits that is the same in every process, and for equal numbers.

    >>> hash_key((1, "a")) == hash_key((1.0, "a")), hash_key("1") == hash_key(1)
    (True, False)
    """
    return int.from_bytes(blake2b(repr(_settle(key)).encode(), digest_size=8).digest())


def _settle(value: Any) -> Any:
    """Equal numbers alike: 2.0 as 2."""
    if isinstance(value, tuple):
        return tuple(map(_settle, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _find_corners(positions: tuple[Position, ...]) -> tuple[Position, Position]:
    xs, ys = zip(*positions, strict=True)
    return (min(xs), min(ys)), (max(xs), max(ys))
