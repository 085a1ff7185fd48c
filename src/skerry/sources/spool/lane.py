"""A spool as a lane: frames as units, in the time of this machine's clock, not of the sensors'."""

from pathlib import Path

from skerry.model.time import Micros
from skerry.sources.source import Lane
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.writer import read_time

__all__ = ["SpoolLane"]

_KEPT_ROWS = 1_000_000
"""So many readings stay, though they are done: by them doubles are known after a restart."""


class SpoolLane(Lane):
    """The frames of a spool. A unit begins and ends when it was received."""

    is_received = True

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self._folder, self._segments = name, folder, Segments(folder)

    def count(self) -> int:
        """How many frames there are now."""
        return self._segments.count()

    def first(self, unit: int) -> Micros:
        """When a frame was received."""
        return self._segments.header(unit).time_us

    def last(self, unit: int) -> Micros:
        """The same: a frame is never read in parts."""
        return self.first(unit)

    def weight(self, unit: int) -> int:
        """How many readings a frame has."""
        return self._segments.header(unit).rows

    def come(self) -> Micros:
        """As far as the writer says: it knows whether something is on its way to disk, and whether anybody listens."""
        said, count = read_time(self._folder), self.count()  # in this order: what was there when it was said is seen
        return max(said, self.last(count - 1)) if count > self._segments.first else said

    def resume_at(self, unit: int) -> None:
        """Make sure that the frames are there, from this one on."""
        self._segments.check(unit)

    def forget(self, unit: int) -> None:
        """Remove what was received before a frame, but for enough to know doubles by."""
        self._segments.forget(unit, _KEPT_ROWS)
