"""Any tuple of the window goes, each as likely as another."""

from typing import NamedTuple

import numpy as np

from skerry.kernels.hash import hash_of
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.window_arrays import GHOST, NONE, Windows
from skerry.model.arrays import Int64s

__all__ = ["Random"]


class Random(NamedTuple):
    """A draw among the slots, which are all taken when a window is full; the same draws for the same seed."""

    draws: Int64s
    """The seed, how many draws there were, how many streams there are."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Random":
        """A policy for empty windows."""
        return cls(np.array([seed, 0, len(windows.streams)], np.int64))

    def grow(self, before: Windows, windows: Windows) -> "Random":
        """It needs none."""
        return self

    @property
    def label_count(self) -> int:
        """One per stream."""
        return int(self.draws[2])

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream."""
        return label, "random"

    def classify(self, windows, entry, key, stream, pattern):
        """There are no classes."""
        return NONE

    def worth(self, windows, entry, kind):
        """All promise the same."""
        return 0.0

    def evict(self, windows, stream):
        """Draw until one is drawn that is a candidate."""
        slots, number = windows.streams[stream], np.int64(NONE)
        if slots["ghosts"] == slots["held"]:
            return number
        while number == NONE or windows.tuples[at(windows, stream, number)]["fate"] & GHOST != 0:
            self.draws[1] += 1
            drawn = hash_of(hash_of(self.draws[0]) + np.uint64(self.draws[1]))
            number = np.int64(1) + np.int64((drawn >> np.uint64(1)) % np.uint64(slots["budget"]))
        return number

    def withdraw(self, windows, stream, number):
        """A ghost is passed over."""

    def leave(self, windows, stream, entry):
        """Keys do not matter."""

    def admit(self, windows, stream, number, entry, kind):
        """It has a slot, so it can be drawn."""

    def credit(self, windows, stream, number, answers, arriving):
        """Answers teach nothing."""

    def label(self, stream, kind):
        """The stream."""
        return stream

    def is_crowded(self):
        """There are no classes."""
        return False
