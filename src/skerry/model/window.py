"""Windows over event time: aligned to the epoch, closed on the left, open on the right. Whole weeks start on Monday.

    HOP, size 4, slide 2          slice = gcd(size, slide) = 2
    |--- 0..4 ---|
          |--- 2..6 ---|
    |  0  |  2   |  4  |          a window is made of size / slice slices

A reading belongs to one slice, and a slice to ``size / slide`` windows. TUMBLE is HOP with the slide
equal to the size, so one class serves both.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import gcd

from skerry.errors import InputError
from skerry.model.time import MICROS, Micros, describe_interval

__all__ = ["MONDAY_US", "WINDOW_END", "WINDOW_START", "GroupWindow", "Window"]

MONDAY_US = 946_857_600_000_000
"""A Monday, the one from which DuckDB's time_bucket counts."""
WINDOW_START = "window_start"
WINDOW_END = "window_end"


class GroupWindow(ABC):
    """A window that readings are grouped by."""

    @abstractmethod
    def describe(self) -> str:
        """As a query writes it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say which window it is."""
        return (WINDOW_START, WINDOW_END)

    @property
    def only_groups(self) -> str | None:
        """Why readings cannot be given one by one with their window, or joined within it; None if they can."""
        return None


@dataclass(frozen=True)
class Window(GroupWindow):
    """A tumbling or hopping window.

    >>> Window(Micros(4), Micros(2)).slice_us
    2
    """

    size_us: Micros
    slide_us: Micros
    offset_us: int = 0
    """By how much windows start later than they would by themselves."""

    def __post_init__(self) -> None:
        """Refuse sizes that no stream can be cut by."""
        size, slide = describe_interval(self.size_us), describe_interval(self.slide_us)
        if self.size_us <= 0 or self.slide_us <= 0:
            raise InputError(
                f"a window's size and slide must be above zero, got a size of {size} and a slide of {slide}"
            )
        if self.slide_us > self.size_us:
            raise InputError(f"a window's slide must not exceed its size, got a slide of {slide} and a size of {size}")
        if self.size_us // self.slice_us > 100_000:
            raise InputError("a window may have at most 100000 slices, got", self.size_us // self.slice_us)

    @property
    def origin_us(self) -> int:
        """A moment at which a window starts: the epoch, which is a Thursday, or a Monday if whole weeks apart.

        >>> Window(Micros(MICROS["WEEK"]), Micros(MICROS["WEEK"])).origin_us == MONDAY_US
        True
        """
        return (MONDAY_US if self.slide_us % MICROS["WEEK"] == 0 else 0) + self.offset_us

    @property
    def slice_us(self) -> int:
        """The longest span that divides every window of this kind."""
        return gcd(self.size_us, self.slide_us)

    def describe(self) -> str:
        """As a query writes it."""
        offset = f" from {describe_interval(self.offset_us)}" if self.offset_us else ""
        if self.tumbling:
            return f"TUMBLE {describe_interval(self.size_us)}{offset}"
        return f"HOP {describe_interval(self.slide_us)} of {describe_interval(self.size_us)}{offset}"

    @property
    def only_groups(self) -> str | None:
        """A reading is in several hopping windows."""
        return None if self.tumbling else "HOP puts a reading into several windows"

    @property
    def tumbling(self) -> bool:
        """Whether windows do not overlap."""
        return self.size_us == self.slide_us
