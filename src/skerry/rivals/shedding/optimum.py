"""A shedder that knows the future, where values are unique.

It is a matter of choosing: an answer needs its tuples, each from its arrival until the last of them comes, and a window
holds so many at a time. That is a packing of intervals into several rooms at once, which is hard in general. Here
values are taken one by one if there is still room for them, in the better of two orders: by their ends, which is exact
if there is one room, and by what they need in all. The choice is surely the best one if it leaves no answer out.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skerry.kernels.joins.snjoin import Tuples
from skerry.model.arrays import Int64s

__all__ = ["Needs", "find_needs", "find_optimum"]


@dataclass(frozen=True)
class Needs:
    """What the values that have an answer need, by their ends: one row per value, one column per stream.

    A value needs room in a stream's window at the arrivals of this stream, counted from 0, from ``begins`` on until
    before ``ends``: at all that come between its own tuple and the last of its tuples, in whichever stream.
    """

    begins: Int64s
    ends: Int64s
    arrival_counts: Int64s
    """By stream."""

    @property
    def count(self) -> int:
        """How many answers there are if nothing is shed."""
        return int(self.begins.shape[0])


def find_needs(tuples: Tuples, stream_count: int) -> Needs:
    """What the answers need; each value is at most once in a stream, and tuples are in order of time."""
    rows = np.full((int(tuples.keys.max(initial=-1)) + 1, stream_count), -1)
    rows[tuples.keys, tuples.streams] = np.arange(tuples.keys.size)
    whole = rows[(rows >= 0).all(axis=1)]
    whole = whole[tuples.starts[whole].max(axis=1) <= tuples.ends[whole].min(axis=1)]
    whole = whole[np.argsort(whole.max(axis=1))]
    arrived = np.cumsum(tuples.streams[:, np.newaxis] == np.arange(stream_count), axis=0)
    begins, lasts = np.take_along_axis(arrived, whole, axis=0), whole.max(axis=1, keepdims=True)
    ends = np.where(whole == lasts, begins, arrived[lasts[:, 0]])
    return Needs(begins, ends, np.bincount(tuples.streams, minlength=stream_count))


def find_optimum(need: Needs, memory: int) -> int:
    """How many answers can be given with windows of ``memory`` tuples.

    An arrival itself takes the room of one tuple, so one less is left for those before it.

    >>> one_room = Needs(np.array([[2], [3], [1]]), np.array([[4], [5], [9]]), np.array([10]))
    >>> find_optimum(one_room, memory=2), find_optimum(one_room, memory=3), find_optimum(one_room, memory=4)
    (1, 2, 3)
    """
    orders = np.arange(need.count), np.argsort((need.ends - need.begins).sum(axis=1), kind="stable")
    return max(_count_taken(need, memory - 1, order) for order in orders)


def _count_taken(need: Needs, room: int, order: npt.NDArray[np.intp]) -> int:
    """How many values are taken if each is, in this order, that still finds room."""
    taken = 0
    used = [np.zeros(count, np.int64) for count in need.arrival_counts]
    for begins, ends in zip(need.begins[order].tolist(), need.ends[order].tolist(), strict=True):
        spans = [stream[begin:end] for stream, begin, end in zip(used, begins, ends, strict=True)]
        if all(span.max(initial=-1) < room for span in spans):
            taken += 1
            for span in spans:
                span += 1
    return taken
