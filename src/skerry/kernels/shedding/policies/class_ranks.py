"""Classes of tuples in order of priority, one row per stream, and which of them have tuples, one bit each.

A priority changes a little at a time, so a class hardly ever passes another; and the lowest class that has tuples is
the lowest bit of a word. As tuples come the priority of a class, its answers per tuple, falls; how many may come before
it can have fallen to that of the class below is known ahead.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.bits import lowest_bit
from skerry.model.arrays import Int64s, UInt64s

__all__ = ["Ranks", "empty_ranks", "fall", "fill", "lowest", "rank_classes", "rise", "widen"]

_BITS = 64
_SURELY = 1.0 - 1e-9
"""With less than this fraction of the tuples at which two priorities meet they do not meet, whatever the rounding."""


class Ranks(NamedTuple):
    """The classes of each stream, the lowest first; a class knows its rank."""

    order: npt.NDArray[np.uint32]
    filled: UInt64s
    """By stream and rank: whether the class there has tuples."""
    sizes: Int64s
    """How many classes each stream has."""


def empty_ranks(streams: int, room: int) -> Ranks:
    """Ranks for as many classes, in each of so many streams."""
    words = -(-room // _BITS)
    return Ranks(
        np.zeros((streams, room), np.uint32), np.zeros((streams, words), np.uint64), np.zeros(streams, np.int64)
    )


def widen(ranks: Ranks, room: int) -> Ranks:
    """The same ranks with room for more."""
    larger = empty_ranks(len(ranks.sizes), room)
    larger.order[:, : ranks.order.shape[1]] = ranks.order
    larger.filled[:, : ranks.filled.shape[1]] = ranks.filled
    larger.sizes[:] = ranks.sizes
    return larger


def rank_classes(classes: npt.NDArray[np.void], count: int, streams: int) -> Ranks:
    """The ranks of the first ``count`` classes but number 0, anew."""
    ranks = empty_ranks(streams, len(classes))
    for stream in range(streams):
        mine = 1 + np.flatnonzero(classes["owner"][1:count] == stream)
        mine = mine[np.lexsort((classes["tie"][mine], [_priority(group) for group in classes[mine]]))]
        ranks.order[stream, : mine.size], ranks.sizes[stream] = mine, mine.size
        classes["rank"][mine], classes["enough"][mine] = np.arange(mine.size), 0.0
        for rank in np.flatnonzero(classes["front"][mine]).tolist():
            ranks.filled[stream, rank // _BITS] |= np.uint64(1) << np.uint64(rank % _BITS)
    return ranks


@inlined_kernel
def fill(ranks, stream, rank, has_tuples):
    """Note whether the class of a rank has tuples."""
    word, bit = np.int64(rank) >> 6, np.uint64(1) << (np.uint64(rank) & np.uint64(_BITS - 1))
    ranks.filled[stream, word] = ranks.filled[stream, word] | bit if has_tuples else ranks.filled[stream, word] & ~bit


@inlined_kernel
def lowest(ranks, stream):
    """The lowest class of a stream that has tuples; 0 if none has."""
    word = 0
    while word < ranks.filled.shape[1] - 1 and ranks.filled[stream, word] == 0:
        word += 1
    bits = ranks.filled[stream, word]
    return np.int64(ranks.order[stream, _BITS * word + lowest_bit(bits)]) if bits != 0 else np.int64(0)


@inner_kernel
def fall(ranks, classes, stream, kind):
    """Let a class whose priority is lower now pass those that it must, and say when to look again."""
    rank = np.int64(classes[kind]["rank"])
    while rank > 0 and _is_less(classes, kind, ranks.order[stream, rank - 1]):
        _swap(ranks, classes, stream, rank - 1)
        rank -= 1
    answers, below = classes[kind]["answers"], 0.0
    if rank > 0:
        below = _priority(classes[ranks.order[stream, rank - 1]])
    classes[kind]["enough"] = answers / below * _SURELY if answers > 0.0 and below > 0.0 else np.inf


@inner_kernel
def rise(ranks, classes, stream, kind):
    """Let a class whose priority is higher now pass those that it must; the one above is nearer to it now."""
    rank = np.int64(classes[kind]["rank"])
    while rank + 1 < ranks.sizes[stream] and _is_less(classes, ranks.order[stream, rank + 1], kind):
        _swap(ranks, classes, stream, rank)
        rank += 1
    if rank + 1 < ranks.sizes[stream]:
        classes[ranks.order[stream, rank + 1]]["enough"] = 0.0


@inlined_kernel
def _priority(group):
    """Answers per tuple; none for the full pattern, and more than any for a class that has not been seen."""
    if group["tie"] == 0:
        return 0.0
    return group["answers"] / group["tuples"] if group["tuples"] > 0.0 else np.inf


@inlined_kernel
def _is_less(classes, one, other):
    here, there = _priority(classes[one]), _priority(classes[other])
    return (here < there) | ((here == there) & (classes[one]["tie"] < classes[other]["tie"]))


@inner_kernel
def _swap(ranks, classes, stream, rank):
    """Swap the classes of a rank and of the next. What is below them has changed, and below the one after them."""
    lower, upper = ranks.order[stream, rank], ranks.order[stream, rank + 1]
    ranks.order[stream, rank], ranks.order[stream, rank + 1] = upper, lower
    classes[upper]["rank"], classes[lower]["rank"] = rank, rank + 1
    fill(ranks, stream, rank, classes[upper]["front"] != 0)
    fill(ranks, stream, rank + 1, classes[lower]["front"] != 0)
    for changed in range(rank, min(rank + 3, ranks.sizes[stream])):
        classes[ranks.order[stream, changed]]["enough"] = 0.0
