"""Keys that repeat: what a tuple of one promises follows from how many of its key the other streams hold.

If the key goes on coming as it does, a tuple takes part in the product of what the others hold when it arrives, and in
that many answers again for each other stream while it is held. So a key need not have had an answer to be thought
well of: where it takes many tuples to the first one, those that wait for it are kept. That it has not come to a stream
says little, and it counts there as a part of a tuple.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._reference import inner_kernel
from skerry.kernels.shedding.priority_queues import Queues, empty_queues, prioritise, resize_queues
from skerry.kernels.shedding.window_arrays import Windows, lengthen
from skerry.model.arrays import Bools, Int32s, UInt64s

__all__ = [
    "ABSENT",
    "RepeatingKeys",
    "combinations",
    "count_arrival",
    "empty_repeating_keys",
    "forget",
    "is_repeating",
    "judge",
    "resize_keys",
    "would_repeat",
]

ABSENT = 0.5
"""As how many tuples a stream counts for what it may yet receive of a key, beside those that it holds.

With half a tuple products are exact, so that keys of equal promise are equal, and the one that came first goes.
"""
_MOST = 1e300


class RepeatingKeys(NamedTuple):
    """Classes are pairs of key and stream. A key repeats once some stream has had two tuples of it."""

    queues: Queues
    held: Int32s
    """How many tuples there are, by key and stream."""
    came: UInt64s
    """By key, the streams that have had it."""
    repeats: Bools
    """By key."""


def empty_repeating_keys(windows: Windows) -> RepeatingKeys:
    """No keys, and room for all that windows have room for."""
    entries, classes = len(windows.entries), len(windows.entries) * len(windows.streams)
    return RepeatingKeys(
        queues=empty_queues(windows, classes),
        held=np.zeros(classes, np.int32),
        came=np.zeros(entries, np.uint64),
        repeats=np.zeros(entries, np.bool_),
    )


def resize_keys(keys: RepeatingKeys, before: Windows, windows: Windows) -> RepeatingKeys:
    """The same keys in windows that have more room."""
    entries, classes = len(windows.entries), len(windows.entries) * len(windows.streams)
    return RepeatingKeys(
        queues=resize_queues(keys.queues, before, windows, classes),
        held=lengthen(keys.held, classes),
        came=lengthen(keys.came, entries),
        repeats=lengthen(keys.repeats, entries),
    )


@inner_kernel
def is_repeating(keys, entry):
    """Whether a key repeats."""
    return keys.repeats[entry]


@inner_kernel
def would_repeat(keys, entry, stream):
    """Whether a key repeats, or would if a tuple of it came to a stream."""
    return keys.repeats[entry] or keys.came[entry] >> np.uint64(stream) & np.uint64(1) != 0


@inner_kernel
def count_arrival(keys, windows, entry, stream):
    """Count a tuple that was put in; true if its key repeats from now on."""
    keys.held[entry * windows.streams.size + stream] += 1
    begins = not keys.repeats[entry] and would_repeat(keys, entry, stream)
    keys.repeats[entry] |= begins
    keys.came[entry] |= np.uint64(1) << np.uint64(stream)
    return begins


@inner_kernel
def forget(keys, entry):
    """Forget a key that no tuple is left of."""
    keys.came[entry] = 0
    keys.repeats[entry] = False


@inner_kernel
def combinations(keys, windows, entry, own):
    """How many answers a tuple of a stream may expect to make with what the others hold of its key."""
    return _product(keys, windows, entry) / (keys.held[entry * windows.streams.size + own] + ABSENT)


@inner_kernel
def _product(keys, windows, entry):
    """What all streams hold of a key, multiplied."""
    streams, product = windows.streams.size, 1.0
    for stream in range(streams):
        product *= keys.held[entry * streams + stream] + ABSENT
    return min(product, _MOST)


@inner_kernel
def judge(keys, windows, entry):
    """Give the classes of a key the priority that they have by now: the answers ahead of a tuple, by its lifetime."""
    streams, product = windows.streams.size, _product(keys, windows, entry)
    for stream in range(streams):
        of_key = entry * streams + stream
        gain = (streams - 1.0) * product / (keys.held[of_key] + ABSENT)
        prioritise(keys.queues, windows, stream, of_key, gain / (float(windows.streams[stream]["longest"]) + 1.0))
