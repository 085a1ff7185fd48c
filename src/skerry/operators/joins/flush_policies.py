"""Which tuples leave memory when it is full: a partition is all tuples, of all streams, whose keys share a hash.

All choose by size: what is largest makes most room for one file, so that files are few and the next flush
is far. They differ in what they tear apart. Tuples that leave together have been joined with each other;
one that stays behind has to wait for the disk to meet those that come to its key later and leave before it.
"""

from abc import ABC, abstractmethod

import numpy as np

from skerry.model.arrays import Int64s

__all__ = ["FlushPolicy", "LargestPartition", "LargestStream", "StreamAfterStream", "make_flush_policy"]


class FlushPolicy(ABC):
    """A choice of partitions, and of streams in them. ``at_hand`` is all that it remembers."""

    at_hand: int | None = None

    @abstractmethod
    def choose(self, counts: Int64s) -> tuple[int, list[int]]:
        """The partition to flush next, and its streams. ``counts`` has a row per partition, a column per stream."""


class LargestPartition(FlushPolicy):
    """The largest partition, whole: one hash table for all streams flushes in coordination by nature.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 2.3.

    >>> LargestPartition().choose(np.array([[5, 0], [3, 4]]))
    (1, [0, 1])
    """

    def choose(self, counts: Int64s) -> tuple[int, list[int]]:
        """All streams of one partition."""
        partition = int(counts.sum(axis=1).argmax())
        return partition, np.flatnonzero(counts[partition]).tolist()


class StreamAfterStream(FlushPolicy):
    """The largest partition, one stream at a time, and no other before all its streams are flushed.

    Viglas, Naughton, Burger: Maximizing the Output Rate of Multi-Way Join Queries over Streaming
    Information Sources, 2003.

    >>> policy = StreamAfterStream()
    >>> policy.choose(np.array([[5, 0], [3, 4]])), policy.choose(np.array([[5, 0], [3, 0]]))
    ((1, [1]), (1, [0]))
    """

    def choose(self, counts: Int64s) -> tuple[int, list[int]]:
        """The largest stream that is left of the partition at hand."""
        if self.at_hand is None or not counts[self.at_hand].any():
            self.at_hand = int(counts.sum(axis=1).argmax())
        return self.at_hand, [int(counts[self.at_hand].argmax())]


class LargestStream(FlushPolicy):
    """The largest partition of any one stream, without regard to the others.

    Urhan, Franklin: XJoin: A Reactively-Scheduled Pipelined Join Operator, 2000.

    >>> LargestStream().choose(np.array([[5, 0], [3, 4]]))
    (0, [0])
    """

    def choose(self, counts: Int64s) -> tuple[int, list[int]]:
        """One stream of one partition."""
        partition, stream = np.unravel_index(int(counts.argmax()), counts.shape)
        return int(partition), [int(stream)]


def make_flush_policy(technique: str) -> FlushPolicy:
    """The policy that belongs to a technique."""
    if technique in ("shj", "xjoin"):
        return LargestStream()
    return StreamAfterStream() if technique in ("mjoin", "amjoin") else LargestPartition()
