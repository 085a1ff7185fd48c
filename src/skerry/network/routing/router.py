"""What a mote knows of routes: to which neighbour a message for another mote goes next, and nothing more."""

from typing import Protocol

__all__ = ["Router"]


class Router(Protocol):
    """The routing table of one mote. Programs on motes are given one, as if a set-up phase had made it."""

    def next_hop(self, target: int) -> int | None:
        """The neighbour that is next on the way to a mote; None if there is no way, or this is the mote."""
