"""Tuples are judged by the answers that their key has had.

Srivastava, Widom: Memory-limited execution of windowed stream joins, 2004.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._reference import inner_kernel
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
from skerry.kernels.shedding.window_arrays import NONE, Windows, lengthen
from skerry.model.arrays import Float64s, Int64s

__all__ = ["Output"]

_SERIAL, _FIRST, _LAST, _COUNT, _LIMIT = range(5)
_NEXT, _BEFORE, _IS_OUT = range(3)
_REMEMBERED = -1
_FEW = 1024


class Output(NamedTuple):
    """Classes are pairs of key and stream; the priority of a key is the number of answers it has had.

    Keys that have had answers are remembered when their last tuple has gone: as many as the windows may hold
    tuples, at least 1,024; the first to have gone is forgotten first.
    """

    queues: Queues
    answers: Float64s
    """By entry."""
    gone: Int64s
    """Entries without tuples, in the order in which they lost them: next, previous, whether it is one."""
    marks: Int64s
    """How many keys came in so far; first, last and number of entries without tuples, and how many may be."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Output":
        """A policy for empty windows."""
        limit = max(int(windows.streams["budget"].sum()), _FEW)
        return cls(
            queues=empty_queues(windows, len(windows.entries) * len(windows.streams)),
            answers=np.zeros(len(windows.entries)),
            gone=np.zeros((len(windows.entries), 3), np.int64),
            marks=np.array([0, NONE, NONE, 0, limit], np.int64),
        )

    def grow(self, before: Windows, windows: Windows) -> "Output":
        """The same with more room."""
        size = len(windows.entries)
        return self._replace(
            queues=resize_queues(self.queues, before, windows, size * len(windows.streams)),
            answers=lengthen(self.answers, size),
            gone=lengthen(self.gone, size),
        )

    @property
    def label_count(self) -> int:
        """One per stream."""
        return int(self.queues.sizes.size)

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream."""
        return label, "output"

    def classify(self, windows, entry, key, stream, pattern):
        """The class of the key."""
        return entry * windows.streams.size + stream

    def worth(self, windows, entry, kind):
        """The answers so far."""
        return self.answers[entry]

    def evict(self, windows, stream):
        """The first tuple of the key that has had the fewest answers."""
        return first(self.queues, windows, stream, least(self.queues, windows, stream))

    def withdraw(self, windows, stream, number):
        """Out of its class."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        take_out(self.queues, windows, stream, number, kind)

    def leave(self, windows, stream, entry):
        """A key that has had answers is remembered for a while."""
        if windows.entries[entry]["held"] == 0 and self.answers[entry] > 0:
            windows.entries[entry]["held"] = _REMEMBERED
            forgotten = _remember(self.gone, self.marks, entry)
            if forgotten != NONE:
                self.answers[forgotten] = 0.0
                windows.entries[forgotten]["held"] = 0

    def admit(self, windows, stream, number, entry, kind):
        """To the end of its class."""
        if windows.entries[entry]["held"] == 1:
            if self.gone[entry, _IS_OUT] != 0:
                _recall(self.gone, self.marks, entry)
            else:
                _begin(self, windows, entry)
        append(self.queues, windows, stream, number, kind)

    def credit(self, windows, stream, number, answers, arriving):
        """The key has had so many answers more; they are counted once, with the arrival that completes them."""
        if arriving:
            entry = np.int64(windows.tuples[at(windows, stream, number)]["entry"])
            self.answers[entry] += answers
            _judge(self, windows, entry)

    def label(self, stream, kind):
        """The stream."""
        return stream

    def is_crowded(self):
        """There are as many classes as the windows have entries."""
        return False


@inner_kernel
def _begin(policy, windows, entry):
    """A key that is not known has had no answers, and comes after all others."""
    policy.marks[_SERIAL] += 1
    for stream in range(windows.streams.size):
        policy.queues.classes[entry * windows.streams.size + stream]["tie"] = policy.marks[_SERIAL]
    _judge(policy, windows, entry)


@inner_kernel
def _judge(policy, windows, entry):
    """Give the classes of a key the priority that they have by now."""
    streams = windows.streams.size
    for stream in range(streams):
        prioritise(policy.queues, windows, stream, entry * streams + stream, policy.answers[entry])


@inner_kernel
def _remember(gone, marks, entry):
    """Remember an entry without tuples; gives the one that is forgotten for it, if there is one."""
    last = marks[_LAST]
    gone[entry, _NEXT], gone[entry, _BEFORE], gone[entry, _IS_OUT] = NONE, last, 1
    gone[last, _NEXT] = entry
    marks[_FIRST] = entry if last == NONE else marks[_FIRST]
    marks[_LAST] = entry
    marks[_COUNT] += 1
    forgotten = marks[_FIRST] if marks[_COUNT] > marks[_LIMIT] else np.int64(NONE)
    if forgotten != NONE:
        _recall(gone, marks, forgotten)
    return forgotten


@inner_kernel
def _recall(gone, marks, entry):
    """Take an entry out of those without tuples."""
    following, before = gone[entry, _NEXT], gone[entry, _BEFORE]
    if before == NONE:
        marks[_FIRST] = following
    else:
        gone[before, _NEXT] = following
    if following == NONE:
        marks[_LAST] = before
    else:
        gone[following, _BEFORE] = before
    gone[entry, _IS_OUT] = 0
    marks[_COUNT] -= 1
