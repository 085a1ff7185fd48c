"""Tuples are judged by the streams that had their key when they arrived: the existence pattern.

Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010, section 3.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.policies.class_ranks import (
    Ranks,
    empty_ranks,
    fall,
    fill,
    lowest,
    rank_classes,
    rise,
    widen,
)
from skerry.kernels.shedding.priority_queues import first
from skerry.kernels.shedding.window_arrays import NONE, Records, Windows, lengthen
from skerry.model.arrays import Int32s, Int64s

__all__ = ["Pattern", "drop_counts", "recount"]

_FEW, _MANY = 64, 4096
_DIRECT = 8
"""Up to so many streams, the position of a pattern in the index is the pattern itself."""
_CLASS = np.dtype(
    [
        ("front", np.uint32),  # its tuples, in order of arrival
        ("back", np.uint32),
        ("rank", np.uint32),  # among the classes of its stream
        ("owner", np.uint32),  # the stream
        ("pattern", np.uint64),
        ("answers", np.float64),
        ("tuples", np.float64),
        ("enough", np.float64),  # with fewer tuples it is above the class below
        ("tie", np.int64),  # the least first among equals; 0 for the full pattern
        ("unused", np.int64),  # a class is a cache line
    ]
)


class Pattern(NamedTuple):
    """Classes are pairs of stream and pattern; only those that were seen take room.

    The priority of a class is the answers per tuple that it has had, r(e) / n(e), and 0 for the full pattern: its
    tuples have had theirs, where keys do not repeat. Of classes with priority 0, the tuple that arrived first goes.
    The classes of a stream are kept in order of priority, with a bit for each that has tuples: a victim is found at
    once, whatever the number of tuples and keys.

    When there are very many classes, those without tuples that came up least are forgotten.

    Patterns come from the table of keys itself, or, with ``hash_values``, from the paper's bit-vector hash table
    (BiHT), here with counts: then keys that share a hash value share their bits.
    """

    classes: Records
    """Class 0 is nobody's."""
    ranks: Ranks
    class_index: npt.NDArray[np.uint32]
    """Classes by stream and pattern, or by their hash."""
    used: Int64s
    """How many classes there are."""
    counts: Int32s
    """Tuples held by hash value and stream; no rows if patterns are exact."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Pattern":
        """A policy for empty windows."""
        streams = len(windows.streams)
        return cls(
            classes=np.zeros(_FEW, _CLASS),
            ranks=empty_ranks(streams, _FEW),
            class_index=np.zeros(_index_size(_FEW, streams), np.uint32),
            used=np.zeros(1, np.int64),
            counts=np.zeros((hash_values, streams), np.int32),
        )

    def grow(self, before: Windows, windows: Windows) -> "Pattern":
        """The same with more room, if it is crowded."""
        if not self.is_crowded():
            return self
        policy = self if len(self.classes) < _MANY else _forget_rare_classes(self, windows)
        room = len(policy.classes) * (2 if policy.is_crowded() else 1)
        larger = policy._replace(
            classes=lengthen(policy.classes, room),
            ranks=widen(policy.ranks, room),
            class_index=np.zeros(_index_size(room, len(windows.streams)), np.uint32),
        )
        _index_all(larger.class_index, larger.classes, larger.used[0], len(windows.streams))
        return larger

    @property
    def label_count(self) -> int:
        """One per class."""
        return len(self.classes)

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream and a pattern, a digit per stream."""
        bits, count = int(self.classes[label]["pattern"]), len(self.ranks.sizes)
        return int(self.classes[label]["owner"]), f"{bits:0{count}b}"[::-1]

    def classify(self, windows, entry, key, stream, pattern):
        """The class of a pattern, a new one if need be."""
        if self.counts.shape[0] > 0:
            pattern = _pattern_by_hash(self.counts, key, stream)
        position = _find_in_index(self.class_index, self.classes, windows.streams.size, stream, pattern)
        if self.class_index[position] == NONE:
            self.used[0] += 1
            self.class_index[position] = self.used[0]
            _begin(self, windows, stream, pattern, self.used[0])
        return np.int64(self.class_index[position])

    def worth(self, windows, entry, kind):
        """Its answers per tuple, the full pattern's too: those that an arrival completes are its own."""
        return self.classes[kind]["answers"] / max(self.classes[kind]["tuples"], 1.0)

    def evict(self, windows, stream):
        """The first tuple of the class that yields least; of classes that yield nothing, the first of all theirs."""
        kind = lowest(self.ranks, stream)
        if kind != 0 and _yields_nothing(self.classes[kind]):
            kind = _eldest_of_nothing(self, windows, stream, kind)
        return first(self, windows, stream, kind)

    def withdraw(self, windows, stream, number):
        """Out of its class. It is the first there, unless it is a ghost from the start, and then the last."""
        tuples, here = windows.tuples, at(windows, stream, number)
        group = self.classes[np.uint32(tuples[here]["kind"])]
        if group["front"] == number:
            group["front"] = tuples[here]["younger"]
        else:
            group["back"] = tuples[here]["elder"]
            tuples[at(windows, stream, group["back"])]["younger"] = NONE
        fill(self.ranks, stream, group["rank"], group["front"] != NONE)

    def leave(self, windows, stream, entry):
        """There is one less of its hash value."""
        if self.counts.shape[0] > 0:
            self.counts[_hash_value(self.counts, windows.entries[entry]["key"]), stream] -= 1

    def admit(self, windows, stream, number, entry, kind):
        """To the end of its class."""
        if self.counts.shape[0] > 0:
            self.counts[_hash_value(self.counts, windows.entries[entry]["key"]), stream] += 1
        group, tuples, here = self.classes[kind], windows.tuples, at(windows, stream, number)
        group["tuples"] += 1.0
        if group["tuples"] >= group["enough"]:
            fall(self.ranks, self.classes, stream, kind)
        tuples[here]["younger"] = NONE
        tuples[here]["elder"] = group["back"]
        if group["front"] == NONE:
            group["front"] = number
            fill(self.ranks, stream, group["rank"], True)
        else:
            tuples[at(windows, stream, group["back"])]["younger"] = number
        group["back"] = number

    def credit(self, windows, stream, number, answers, arriving):
        """Its class has had so many answers more."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        self.classes[kind]["answers"] += answers
        rise(self.ranks, self.classes, stream, kind)

    def label(self, stream, kind):
        """The class."""
        return kind

    def is_crowded(self):
        """Whether all rows are in use."""
        return self.used[0] + 1 == self.classes.size


def drop_counts(policy: Any) -> Any:
    """A policy as it is saved: the counts by hash value are as large as the budget, and follow from what is held."""
    return policy._replace(counts=policy.counts[:0]) if isinstance(policy, Pattern) else policy


def recount(policy: Any, windows: Windows, hash_values: int) -> Any:
    """A policy that was saved, with the counts of the tuples that windows hold."""
    if not isinstance(policy, Pattern):
        return policy
    counts = np.zeros((hash_values, len(windows.streams)), np.int32)
    if hash_values:
        for stream in range(len(windows.streams)):
            _count_held(counts, windows, stream)
    return policy._replace(counts=counts)


@inner_kernel
def _count_held(counts, windows, stream):
    number = windows.tuples[at(windows, stream, NONE)]["later"]
    while number != NONE:
        slot = windows.tuples[at(windows, stream, number)]
        counts[_hash_value(counts, windows.entries[np.int64(slot["entry"])]["key"]), stream] += 1
        number = slot["later"]


def _index_size(room: int, streams: int) -> int:
    return streams << streams if streams <= _DIRECT else 2 * room


def _forget_rare_classes(policy: Pattern, windows: Windows) -> Pattern:
    """Without half of the classes that no tuple is of, those that came up least; the others are numbered anew."""
    classes, used = policy.classes, int(policy.used[0])
    needed = np.zeros(len(classes), np.bool_)
    needed[NONE], needed[windows.tuples["kind"]] = True, True
    idle = np.flatnonzero(~needed[: used + 1])
    gone = idle[np.argsort(classes["tuples"][idle], kind="stable")][: (idle.size + 1) // 2]
    kept = np.delete(np.arange(used + 1), gone)
    numbers = np.zeros(len(classes), np.int64)
    numbers[kept] = np.arange(kept.size)
    windows.tuples["kind"] = numbers[windows.tuples["kind"]]
    compact = np.zeros_like(classes)
    compact[: kept.size] = classes[kept]
    compact["tie"] = np.minimum(compact["tie"], np.arange(len(compact)))
    ranks = rank_classes(compact, kept.size, len(windows.streams))
    return policy._replace(classes=compact, ranks=ranks, used=np.array([kept.size - 1], np.int64))


@inner_kernel
def _begin(policy, windows, stream, pattern, kind):
    """A class that has not been seen comes behind all others of its stream, until it has a tuple."""
    group = policy.classes[kind]
    group["pattern"], group["owner"] = pattern, stream
    group["tie"] = 0 if _is_full(windows, pattern) else kind
    group["rank"] = policy.ranks.sizes[stream]
    policy.ranks.order[stream, group["rank"]] = kind
    policy.ranks.sizes[stream] += 1


@inlined_kernel
def _yields_nothing(group):
    return (group["tie"] == 0) | (group["answers"] == 0.0)


@inner_kernel
def _eldest_of_nothing(policy, windows, stream, kind):
    """Of the classes without answers, which are the lowest, the one whose first tuple arrived first."""
    rank, size = np.int64(policy.classes[kind]["rank"]) + 1, policy.ranks.sizes[stream]
    serial = windows.tuples[at(windows, stream, policy.classes[kind]["front"])]["serial"]
    while rank < size and _yields_nothing(policy.classes[policy.ranks.order[stream, rank]]):
        other = np.int64(policy.ranks.order[stream, rank])
        front = policy.classes[other]["front"]
        if front != NONE:
            another = windows.tuples[at(windows, stream, front)]["serial"]
            # Serials begin again at 0 some day: the elder is less than half a turn behind the other.
            if ((np.int64(serial) - np.int64(another)) & 0xFFFFFFFF) < 0x80000000:
                kind, serial = other, another
        rank += 1
    return kind


@inlined_kernel
def _is_full(windows, pattern):
    return pattern == ~np.uint64(0) >> np.uint64(64 - windows.streams.size)


@inlined_kernel
def _find_in_index(index, classes, streams, stream, pattern):
    """The position of a class in the index, or the one where it would be put."""
    if streams <= _DIRECT:
        return (np.int64(stream) << np.int64(streams)) | np.int64(pattern)
    mask = index.size - 1
    position = np.int64(hash_of(pattern + np.uint64(stream) * np.uint64(0xD1342543DE82EF95)) & np.uint64(mask))
    while index[position] != NONE and (
        classes[index[position]]["pattern"] != pattern or classes[index[position]]["owner"] != stream
    ):
        position = (position + 1) & mask
    return position


@inner_kernel
def _index_all(index, classes, used, streams):
    for kind in range(1, used + 1):
        index[_find_in_index(index, classes, streams, np.int64(classes[kind]["owner"]), classes[kind]["pattern"])] = (
            kind
        )


@inner_kernel
def _hash_value(counts, key):
    return np.int64(hash_of(key) % np.uint64(counts.shape[0]))


@inner_kernel
def _pattern_by_hash(counts, key, own):
    """The streams that hold a tuple of the same hash value."""
    value, pattern = _hash_value(counts, key), np.uint64(1) << np.uint64(own)
    for stream in range(counts.shape[1]):
        if counts[value, stream] > 0:
            pattern |= np.uint64(1) << np.uint64(stream)
    return pattern
