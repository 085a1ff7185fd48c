"""The first to have arrived goes first."""

from typing import NamedTuple

from skerry.kernels.shedding.priority_queues import Queues, append, empty_queues, first, least, resize_queues, take_out
from skerry.kernels.shedding.window_arrays import Windows

__all__ = ["Oldest"]


class Oldest(NamedTuple):
    """One class per stream."""

    queues: Queues

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Oldest":
        """A policy for empty windows."""
        return cls(empty_queues(windows, 1 + len(windows.streams)))

    def grow(self, before: Windows, windows: Windows) -> "Oldest":
        """The same with more room."""
        return self._replace(queues=resize_queues(self.queues, before, windows, len(self.queues.classes)))

    @property
    def label_count(self) -> int:
        """One per stream."""
        return int(self.queues.sizes.size)

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream."""
        return label, "oldest"

    def classify(self, windows, entry, key, stream, pattern):
        """The class of the stream."""
        return stream + 1

    def worth(self, windows, entry, kind):
        """All promise the same."""
        return 0.0

    def evict(self, windows, stream):
        """The first of those that are candidates."""
        return first(self.queues, windows, stream, least(self.queues, windows, stream))

    def withdraw(self, windows, stream, number):
        """Out of the queue."""
        take_out(self.queues, windows, stream, number, stream + 1)

    def leave(self, windows, stream, entry):
        """Keys do not matter."""

    def admit(self, windows, stream, number, entry, kind):
        """To the end of the queue."""
        append(self.queues, windows, stream, number, kind)

    def credit(self, windows, stream, number, answers, arriving):
        """Answers teach nothing."""

    def label(self, stream, kind):
        """The stream."""
        return stream

    def is_crowded(self):
        """There are as many classes as ever will be."""
        return False
