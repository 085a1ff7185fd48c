"""What a fleet needs of whatever carries its messages: connections to a broker, or an ether in simulated time."""

from collections.abc import Sequence
from typing import Any, Protocol

__all__ = ["Link"]


class Link(Protocol):
    """Carries messages of motes, and control to them."""

    losses: int
    """How often a connection was lost."""

    @property
    def emptied_s(self) -> float:
        """When everything that had come was last taken."""
        ...

    @property
    def unacknowledged(self) -> Sequence[Any]:
        """The tokens of what was not answered yet."""
        ...

    def connect(self) -> None:
        """Make ready, or say why that cannot be done."""

    def publish(self, mote: int, topic: str, payload: bytes, token: Any, *, is_retained: bool = False) -> bool:
        """Send for a mote; False if that cannot be done now."""
        ...

    def poll(self, timeout_s: float) -> None:
        """Send and take what there is, waiting for something at most so long."""

    def close(self) -> None:
        """Leave."""
