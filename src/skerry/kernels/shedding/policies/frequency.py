"""Tuples are judged by how many of their key there are.

Law, Zaniolo: Load shedding for window joins on multiple data streams, 2007.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.priority_queues import (
    Queues,
    append,
    empty_queues,
    first,
    least,
    prioritise,
    resize_queues,
    take_out,
)
from skerry.kernels.shedding.window_arrays import Windows
from skerry.model.arrays import Int64s

__all__ = ["Frequency"]


class Frequency(NamedTuple):
    """Classes are pairs of key and stream; the priority of a key is the number of its tuples in all windows.

    A tuple that comes or goes moves its key in the heap of each stream, which costs the logarithm of the number
    of keys held.
    """

    queues: Queues
    serial: Int64s
    """How many keys came into the windows so far; they are ranked by it among equals."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Frequency":
        """A policy for empty windows."""
        return cls(empty_queues(windows, len(windows.entries) * len(windows.streams)), np.zeros(1, np.int64))

    def grow(self, before: Windows, windows: Windows) -> "Frequency":
        """The same with more room."""
        classes = len(windows.entries) * len(windows.streams)
        return self._replace(queues=resize_queues(self.queues, before, windows, classes))

    @property
    def label_count(self) -> int:
        """One per stream."""
        return int(self.queues.sizes.size)

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream."""
        return label, "frequency"

    def classify(self, windows, entry, key, stream, pattern):
        """The class of the key."""
        return entry * windows.streams.size + stream

    def worth(self, windows, entry, kind):
        """How many there are already."""
        return float(windows.entries[entry]["held"])

    def evict(self, windows, stream):
        """The first tuple of the key that is rarest."""
        return first(self.queues, windows, stream, least(self.queues, windows, stream))

    def withdraw(self, windows, stream, number):
        """Out of its class."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        take_out(self.queues, windows, stream, number, kind)

    def leave(self, windows, stream, entry):
        """The key is rarer by one."""
        streams, held = windows.streams.size, windows.entries[entry]["held"]
        for each in range(streams):
            prioritise(self.queues, windows, each, entry * streams + each, float(held))

    def admit(self, windows, stream, number, entry, kind):
        """To the end of its class; the key is more frequent by one."""
        streams, held = windows.streams.size, windows.entries[entry]["held"]
        self.serial[0] += held == 1
        for each in range(streams):
            if held == 1:
                self.queues.classes[entry * streams + each]["tie"] = self.serial[0]
            prioritise(self.queues, windows, each, entry * streams + each, float(held))
        append(self.queues, windows, stream, number, kind)

    def credit(self, windows, stream, number, answers, arriving):
        """Answers teach nothing."""

    def label(self, stream, kind):
        """The stream."""
        return stream

    def is_crowded(self):
        """There are as many classes as the windows have entries."""
        return False
