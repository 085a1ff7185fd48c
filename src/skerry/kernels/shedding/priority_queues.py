"""Classes of tuples, each a queue in order of arrival, and one heap per stream that knows the least of them.

A class belongs to one stream. Those that have tuples are in their stream's heap, by priority and, of equals, by
the order in which they came to be. So the tuple that should go is found at once, and a changed priority costs
the logarithm of the number of classes.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._prefetch import prefetch
from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.window_arrays import NONE, Records, Windows, lengthen, move_rows
from skerry.model.arrays import Int64s

__all__ = ["Queues", "append", "empty_queues", "first", "least", "prioritise", "resize_queues", "take_out"]

_QUEUE = np.dtype(
    [
        ("front", np.uint32),
        ("back", np.uint32),
        ("position", np.uint32),  # in the heap; 0 if it has no tuples
        ("unused", np.uint32),
        ("tie", np.int64),  # the least first among equals
        ("priority", np.float64),
    ]
)


class Queues(NamedTuple):
    """Classes, one record each; class 0 is nobody's."""

    classes: Records
    heaps: npt.NDArray[np.uint32]
    """Classes: per stream as many positions as it has slots; the least stands at position 1."""
    sizes: Int64s
    """How many classes are in the heap of each stream."""


def empty_queues(windows: Windows, count: int) -> Queues:
    """Room for so many classes, and for as many with tuples as there is room for tuples."""
    return Queues(
        classes=np.zeros(count, _QUEUE),
        heaps=np.zeros(len(windows.tuples), np.uint32),
        sizes=np.zeros(len(windows.streams), np.int64),
    )


def resize_queues(queues: Queues, before: Windows, windows: Windows, count: int) -> Queues:
    """The same queues in windows that have more room, with room for more classes."""
    return queues._replace(
        classes=lengthen(queues.classes, count), heaps=move_rows(queues.heaps, before.streams, windows.streams)
    )


@inlined_kernel
def append(queues, windows, stream, number, kind):
    """Put a tuple at the end of a class."""
    queue, tuples, here = queues.classes[kind], windows.tuples, at(windows, stream, number)
    tuples[here]["kind"] = kind
    tuples[here]["younger"] = NONE
    tuples[here]["elder"] = queue["back"]
    if queue["position"] != 0:
        tuples[at(windows, stream, queue["back"])]["younger"] = number
    else:
        tuples[here]["elder"] = NONE
        queue["front"] = number
        queues.sizes[stream] += 1
        _rise(queues, np.int64(at(windows, stream, 0)), queues.sizes[stream], kind)
    queue["back"] = number


@inlined_kernel
def take_out(queues, windows, stream, number, kind):
    """Take a tuple out of its class."""
    queue, tuples, here = queues.classes[kind], windows.tuples, at(windows, stream, number)
    younger, elder = tuples[here]["younger"], tuples[here]["elder"]
    if elder == NONE:
        queue["front"] = younger
    else:
        tuples[at(windows, stream, elder)]["younger"] = younger
    if younger == NONE:
        queue["back"] = elder
    else:
        tuples[at(windows, stream, younger)]["elder"] = elder
    if younger == NONE and elder == NONE:
        _drop(queues, np.int64(at(windows, stream, 0)), stream, kind)


@inlined_kernel
def prioritise(queues, windows, stream, kind, priority):
    """Give a class another priority."""
    queue = queues.classes[kind]
    if priority != queue["priority"]:
        lower = priority < queue["priority"]
        queue["priority"] = priority
        position = np.int64(queue["position"])
        if position != 0 and lower:
            _rise(queues, np.int64(at(windows, stream, 0)), position, kind)
        elif position != 0:
            _sink(queues, np.int64(at(windows, stream, 0)), queues.sizes[stream], position, kind)


@inlined_kernel
def least(queues, windows, stream):
    """The class with the lowest priority, or none if no class has tuples."""
    return np.int64(queues.heaps[at(windows, stream, 1)]) if queues.sizes[stream] > 0 else np.int64(NONE)


@inlined_kernel
def first(queues, windows, stream, kind):
    """The first tuple of a class, or none. What the next ones touch is fetched from memory meanwhile.

    ``queues`` may be anything with classes that know their front.
    """
    tuples, base, number = windows.tuples, at(windows, stream, NONE), np.int64(queues.classes[kind]["front"])
    second = tuples[base + np.uint64(tuples[base + np.uint64(number)]["younger"])]
    prefetch(windows.entries, np.int64(second["entry"]))
    prefetch(tuples, base + np.uint64(second["younger"]))
    return number


@inner_kernel
def _drop(queues, base, stream, kind):
    """Take a class out of the heap; the last one fills the gap."""
    position, size = np.int64(queues.classes[kind]["position"]), queues.sizes[stream]
    last = np.int64(queues.heaps[base + size])
    queues.classes[kind]["position"] = 0
    queues.sizes[stream] = size - 1
    if last != kind:
        _rise(queues, base, position, last)
        _sink(queues, base, size - 1, np.int64(queues.classes[last]["position"]), last)


@inner_kernel
def _is_less(queues, one, other):
    here, there = queues.classes[one], queues.classes[other]
    equal = here["priority"] == there["priority"]
    return (here["priority"] < there["priority"]) | (equal & (here["tie"] < there["tie"]))


@inner_kernel
def _rise(queues, base, position, kind):
    """Put a class at a position, or above it if it is less than those there."""
    heaps, classes = queues.heaps, queues.classes
    while position > 1 and _is_less(queues, kind, np.int64(heaps[base + (position >> 1)])):
        above = np.int64(heaps[base + (position >> 1)])
        heaps[base + position] = above
        classes[above]["position"] = position
        position >>= 1
    heaps[base + position] = kind
    classes[kind]["position"] = position


@inner_kernel
def _sink(queues, base, size, position, kind):
    """Put a class at a position, or below it if those there are less."""
    heaps, classes = queues.heaps, queues.classes
    below = _lesser_below(queues, base, size, position)
    while below != 0 and _is_less(queues, np.int64(heaps[base + below]), kind):
        risen = np.int64(heaps[base + below])
        heaps[base + position] = risen
        classes[risen]["position"] = position
        position = below
        below = _lesser_below(queues, base, size, position)
    heaps[base + position] = kind
    classes[kind]["position"] = position


@inner_kernel
def _lesser_below(queues, base, size, position):
    """The position of the lesser of the two below a position; 0 if there is none."""
    left, right = 2 * position, 2 * position + 1
    if left > size:
        return 0
    if right > size or not _is_less(queues, np.int64(queues.heaps[base + right]), np.int64(queues.heaps[base + left])):
        return left
    return right
