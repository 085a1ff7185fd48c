"""Windows that last as long as readings follow each other closely."""

from dataclasses import dataclass

from skerry.errors import InputError
from skerry.model.time import Micros, describe_interval
from skerry.model.window import GroupWindow

__all__ = ["SessionWindow"]


@dataclass(frozen=True)
class SessionWindow(GroupWindow):
    """A session: readings of a group of which each is at most ``gap_us`` after the one before it.

    It starts with its first reading and ends the gap after its last.

    >>> SessionWindow(Micros(30_000_000)).describe()
    'SESSION_WINDOW 30 SECOND'
    """

    gap_us: Micros

    def __post_init__(self) -> None:
        """A session needs a gap."""
        if self.gap_us <= 0:
            raise InputError("the gap of a session must be above zero, got", describe_interval(self.gap_us))

    def describe(self) -> str:
        """As a query writes it."""
        return f"SESSION_WINDOW {describe_interval(self.gap_us)}"

    @property
    def only_groups(self) -> str:
        """The session of a reading is known only when it is over."""
        return "a session ends when no reading has come for a while"
