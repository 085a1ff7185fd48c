"""What a join technique is: tuples go in, in order; combinations come out.

A tuple is live from its event time until that plus its stream's window. Tuples of different streams
with the same key make an answer if there is a moment at which all are live: the newest of them then
lies in the window of each, both ends in. This is the whole meaning of a complete join, and it says
nothing about the order of arrival.

    a  ├──────────┤                 a and b answer, b and c answer;
    b         ├────────────┤        a, b and c do not: a has ended when c begins
    c                 ├───┤
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skerry.errors import KernelError
from skerry.model.arrays import Int32s, Int64s
from skerry.model.time import Micros

__all__ = ["Arrivals", "Technique"]


@dataclass(frozen=True)
class Arrivals:
    """Tuples of several streams, in the order in which they are to be taken."""

    streams: Int32s
    """Which stream each comes from, from 0."""
    keys: Int64s
    starts: Int64s
    """Event time."""
    ends: Int64s
    """The last moment at which it is live."""
    rows: Int64s
    """What the caller calls it: a number that no other tuple of its stream has, rising in order of arrival."""

    def __post_init__(self) -> None:
        """All columns have one length."""
        sizes = {column.size for column in self.columns}
        if len(sizes) > 1:
            raise KernelError("arrivals have columns of different lengths", sorted(sizes))

    @property
    def columns(self) -> tuple[Int32s, Int64s, Int64s, Int64s, Int64s]:
        """All of them, as kernels take them."""
        return self.streams, self.keys, self.starts, self.ends, self.rows

    def at(self, places: npt.NDArray[np.intp]) -> "Arrivals":
        """Those at some places, in that order. Places are in range: clipping is the fastest way to say so."""
        _, *others = self.columns
        return Arrivals(self.streams.take(places, mode="clip"), *(each.take(places, mode="clip") for each in others))

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.keys.size)


class Technique(ABC):
    """A way to find all combinations of live tuples, one a stream, that share a key."""

    def __init__(self, stream_count: int, limit: int) -> None:
        self.stream_count, self.limit = stream_count, limit

    @abstractmethod
    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in. Give each combination that one of them completes, as a row of ``rows``, one a stream.

        Raises ``LimitError`` if one call would give more than ``limit`` combinations.
        """

    @abstractmethod
    def load(self, arrivals: Arrivals) -> None:
        """Take tuples in that have been joined with each other already: nothing comes out."""

    @abstractmethod
    def sweep(self, watermark: Micros) -> None:
        """Forget the tuples that ended before ``watermark``: nothing that starts earlier will come."""

    @property
    @abstractmethod
    def live_count(self) -> int:
        """How many tuples it holds; a lazy sweep may leave some that have ended."""
