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

from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.operators.joins.arrivals import Arrivals

__all__ = ["Technique"]


class Technique(ABC):
    """A way to find all combinations of live tuples, one per stream, that share a key."""

    def __init__(self, stream_count: int, limit: int) -> None:
        self.stream_count, self.limit = stream_count, limit

    @abstractmethod
    def arrive(self, arrivals: Arrivals) -> Int64s:
        """Take tuples in. Give each combination that one of them completes, as a row of ``rows``, one per stream.

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
