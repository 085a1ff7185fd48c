"""A topology: motes with positions, and the links between them."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from skerry.errors import InputError

__all__ = ["Position", "Topology"]

Position = tuple[float, float]


@dataclass(frozen=True)
class Topology:
    """Motes, numbered from 0, where they stand, and whom each can be heard by.

    ``losses`` has the probability that a message over a link is lost, where a link has its own.

    >>> line = Topology.of_links(3, [(0, 1), (1, 2)])
    >>> line.neighbours[1], line.distances_from(0)
    ((0, 2), (0, 1, 2))
    """

    neighbours: tuple[tuple[int, ...], ...]
    positions: tuple[Position, ...] | None = None
    losses: Mapping[tuple[int, int], float] = field(default_factory=dict)
    name: str = "links"

    @classmethod
    def of_links(
        cls,
        size: int,
        links: Iterable[tuple[int, int]],
        positions: Sequence[Position] | None = None,
        losses: Mapping[tuple[int, int], float] | None = None,
        name: str = "links",
    ) -> "Topology":
        """From links, each of which goes both ways."""
        heard: list[set[int]] = [set() for _ in range(size)]
        for one, other in links:
            if one == other or not (0 <= one < size and 0 <= other < size):
                raise InputError(f"a link joins two different motes of 0 to {size - 1}; got {one} and {other}")
            heard[one].add(other)
            heard[other].add(one)
        found = tuple(tuple(sorted(each)) for each in heard)
        return cls(found, None if positions is None else tuple(positions), dict(losses or {}), name)

    def join(self, one: int, other: int) -> "Topology":
        """The same with one more link."""
        return self._with_link(one, other, is_up=True)

    def cut(self, one: int, other: int) -> "Topology":
        """The same with a link less.

        >>> Topology.of_links(3, [(0, 1), (1, 2)]).cut(1, 2).join(2, 0).neighbours
        ((1, 2), (0,), (0,))
        """
        return self._with_link(one, other, is_up=False)

    def _with_link(self, one: int, other: int, is_up: bool) -> "Topology":
        if one == other or not (0 <= one < len(self) and 0 <= other < len(self)):
            raise InputError(f"a link joins two different motes of 0 to {len(self) - 1}; got {one} and {other}")
        neighbours = list(self.neighbours)
        for mote, far in ((one, other), (other, one)):
            others = set(neighbours[mote]) - {far}
            neighbours[mote] = tuple(sorted(others | {far} if is_up else others))
        return replace(self, neighbours=tuple(neighbours))

    def __len__(self) -> int:
        """How many motes there are."""
        return len(self.neighbours)

    @property
    def links(self) -> Iterator[tuple[int, int]]:
        """Every link, both ways."""
        return ((one, other) for one, others in enumerate(self.neighbours) for other in others)

    def distances_from(self, mote: int) -> tuple[int, ...]:
        """Hops from a mote to each; -1 to those that it cannot reach."""
        hops = [-1] * len(self)
        hops[mote] = 0
        reached = deque([mote])
        while reached:
            one = reached.popleft()
            for other in self.neighbours[one]:
                if hops[other] < 0:
                    hops[other] = hops[one] + 1
                    reached.append(other)
        return tuple(hops)

    @cached_property
    def is_connected(self) -> bool:
        """Whether every mote can reach every other."""
        return len(self) == 0 or min(self.distances_from(0)) >= 0
