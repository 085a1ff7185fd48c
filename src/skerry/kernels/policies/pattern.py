"""Tuples are judged by the streams that had their key when they arrived: the existence pattern.

Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010, section 3.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.queues import Queues, append, empty_queues, first, least, prioritise, settled, take_out
from skerry.kernels.windows import NONE, Windows, at, longer

__all__ = ["Pattern"]

_ANSWERS, _TUPLES = range(2)
_FEW = 64


class Pattern(NamedTuple):
    """Classes are pairs of stream and pattern; only those that were seen take room.

    The priority of a class is the answers a tuple of it has had, r(e) / n(e), and 0 for the full pattern: its
    tuples have had theirs, where keys do not repeat. A victim is found at once, and what is learned costs the
    logarithm of the number of classes, whatever the number of tuples and keys.

    Patterns come from the table of keys itself, or, with ``hash_values``, from the paper's bit-vector hash table
    (BiHT), here with counts: then keys that share a hash value share their bits.
    """

    queues: Queues
    sums: npt.NDArray[np.float64]
    """Answers and tuples of a class so far."""
    patterns: npt.NDArray[np.uint64]
    owners: npt.NDArray[np.int64]
    """The stream of each class."""
    places: npt.NDArray[np.int32]
    """Classes by hash of stream and pattern."""
    used: npt.NDArray[np.int64]
    """How many classes there are."""
    counts: npt.NDArray[np.int32]
    """Tuples held by hash value and stream; no rows if patterns are exact."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Pattern":
        """A policy for empty windows."""
        return cls(
            queues=empty_queues(windows, _FEW),
            sums=np.zeros((_FEW, 2)),
            patterns=np.zeros(_FEW, np.uint64),
            owners=np.zeros(_FEW, np.int64),
            places=np.zeros(2 * _FEW, np.int32),
            used=np.zeros(1, np.int64),
            counts=np.zeros((hash_values, len(windows.streams)), np.int32),
        )

    def grown(self, before: Windows, windows: Windows) -> "Pattern":
        """The same with more room."""
        classes = len(self.sums) * (2 if self.crowded() else 1)
        grown = self._replace(
            queues=settled(self.queues, before, windows, classes),
            sums=longer(self.sums, classes),
            patterns=longer(self.patterns, classes),
            owners=longer(self.owners, classes),
            places=np.zeros(2 * classes, np.int32),
        )
        _index_all(grown.places, grown.patterns, grown.owners, grown.used[0])
        return grown

    @property
    def label_count(self) -> int:
        """One a class."""
        return len(self.sums)

    def named(self, label: int) -> tuple[int, str]:
        """A stream and a pattern, a digit a stream."""
        bits, count = int(self.patterns[label]), self.queues.sizes.size
        return int(self.owners[label]), "".join(str(bits >> stream & 1) for stream in range(count))

    def classify(self, windows, entry, key, stream, pattern):
        """The class of a pattern, a new one if need be."""
        if self.counts.shape[0] > 0:
            pattern = _hashed_pattern(self.counts, key, stream)
        place = _place(self.places, self.patterns, self.owners, stream, pattern)
        if self.places[place] == NONE:
            self.used[0] += 1
            kind = self.used[0]
            self.places[place] = kind
            self.patterns[kind] = pattern
            self.owners[kind] = stream
            self.queues.classes[kind]["tie"] = 0 if _is_full(windows, pattern) else kind
        return np.int64(self.places[place])

    def worth(self, windows, entry, kind):
        """Its answers a tuple, the full pattern's too: those that an arrival completes are its own."""
        return self.sums[kind, _ANSWERS] / max(self.sums[kind, _TUPLES], 1.0)

    def evict(self, windows, stream):
        """The first tuple of the class that yields least."""
        return first(self.queues, windows, stream, least(self.queues, windows, stream))

    def withdraw(self, windows, stream, number):
        """Out of its class."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        take_out(self.queues, windows, stream, number, kind)

    def leave(self, windows, stream, entry):
        """There is one less of its hash value."""
        if self.counts.shape[0] > 0:
            self.counts[_hash_value(self.counts, windows.entries[entry]["key"]), stream] -= 1

    def admit(self, windows, stream, number, entry, kind):
        """To the end of its class."""
        if self.counts.shape[0] > 0:
            self.counts[_hash_value(self.counts, windows.entries[entry]["key"]), stream] += 1
        self.sums[kind, _TUPLES] += 1.0
        _judge(self, windows, stream, kind)
        append(self.queues, windows, stream, number, kind)

    def credit(self, windows, stream, number, answers, arriving):
        """Its class has had so many answers more."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        self.sums[kind, _ANSWERS] += answers
        _judge(self, windows, stream, kind)

    def label(self, stream, kind):
        """The class."""
        return kind

    def crowded(self):
        """Whether all rows are in use."""
        return self.used[0] + 1 == self.sums.shape[0]


@inlined_kernel
def _judge(policy, windows, stream, kind):
    """Give a class the priority that it has by now."""
    full = _is_full(windows, policy.patterns[kind])
    priority = 0.0 if full else policy.sums[kind, _ANSWERS] / policy.sums[kind, _TUPLES]
    prioritise(policy.queues, windows, stream, kind, priority)


@inlined_kernel
def _is_full(windows, pattern):
    return pattern == ~np.uint64(0) >> np.uint64(64 - windows.streams.size)


@inlined_kernel
def _place(places, patterns, owners, stream, pattern):
    """Where in the index a class stands, or would."""
    mask = places.size - 1
    place = np.int64(hash_of(pattern + np.uint64(stream) * np.uint64(0xD1342543DE82EF95)) & np.uint64(mask))
    while places[place] != NONE and (patterns[places[place]] != pattern or owners[places[place]] != stream):
        place = (place + 1) & mask
    return place


@inner_kernel
def _index_all(places, patterns, owners, used):
    for kind in range(1, used + 1):
        places[_place(places, patterns, owners, owners[kind], patterns[kind])] = kind


@inner_kernel
def _hash_value(counts, key):
    return np.int64(hash_of(key) % np.uint64(counts.shape[0]))


@inner_kernel
def _hashed_pattern(counts, key, own):
    """The streams that hold a tuple of the same hash value."""
    value, pattern = _hash_value(counts, key), np.uint64(1) << np.uint64(own)
    for stream in range(counts.shape[1]):
        if counts[value, stream] > 0:
            pattern |= np.uint64(1) << np.uint64(stream)
    return pattern
