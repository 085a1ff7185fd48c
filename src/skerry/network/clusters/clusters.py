"""Which mote belongs to which head."""

from dataclasses import dataclass
from functools import cached_property

__all__ = ["Clusters"]


@dataclass(frozen=True)
class Clusters:
    """The head of each mote; a head's is itself. None for a mote that is dead.

    >>> clusters = Clusters((0, 0, 3, 3))
    >>> clusters.heads, clusters.members(0)
    ((0, 3), (0, 1))
    """

    head_of: tuple[int | None, ...]

    @cached_property
    def heads(self) -> tuple[int, ...]:
        """All heads, in order."""
        return tuple(mote for mote, head in enumerate(self.head_of) if head == mote)

    def members(self, head: int) -> tuple[int, ...]:
        """The motes of a cluster, with its head."""
        return tuple(mote for mote, other in enumerate(self.head_of) if other == head)
