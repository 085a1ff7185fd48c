"""When the tuples of several streams are live, in one pass over all of them."""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Int32s, Int64s

__all__ = ["Lifetimes", "WindowSizes", "find_lifetimes"]


class WindowSizes(NamedTuple):
    """How long the tuples of each stream are live; or, where ``last_rows`` is above 0, how many of its last rows are.

    Times before ``first`` and after ``last`` count as those.
    """

    spans: Int64s
    last_rows: Int64s
    first: int
    last: int


class Lifetimes(NamedTuple):
    """The stream of each tuple, from when until when it is live, and whether it has to be kept."""

    streams: Int32s
    starts: Int64s
    ends: Int64s
    kept: Bools


def find_lifetimes(moments: Int64s, joinable: Bools, parts: Int64s, windows: WindowSizes, watermark: int) -> Lifetimes:
    """The lifetimes of tuples that begin at ``moments``.

    A row of ``parts`` is a stream, and how many of its tuples come next.

    What joins nothing, or has ended before the watermark, is not kept, except to be counted; it is never live.

    >>> windows = WindowSizes(spans=np.array([10, 0]), last_rows=np.array([0, 3]), first=0, last=99)
    >>> moments, parts = np.array([1, 95, 5]), np.array([[0, 2], [1, 1]])
    >>> found = find_lifetimes(moments, np.ones(3, np.bool_), parts, windows, watermark=12)
    >>> found.streams.tolist(), found.ends.tolist(), found.kept.tolist()
    ([0, 0, 1], [11, 99, 99], [False, True, True])
    """
    if not moments.size == joinable.size == parts[:, 1].sum():
        raise KernelError("moments and parts differ in length:", moments.size, joinable.size, parts[:, 1].sum())
    return Lifetimes(*_find_lifetimes(moments, joinable, parts, *windows, watermark))


@kernel
def _find_lifetimes(moments, joinable, parts, spans, last_rows, first, last, watermark):
    streams, kept = np.empty(moments.size, np.int32), np.empty(moments.size, np.bool_)
    starts, ends = np.empty(moments.size, np.int64), np.empty(moments.size, np.int64)
    begin = 0
    for part in range(parts.shape[0]):
        stream, here = parts[part, 0], slice(begin, begin + parts[part, 1])
        streams[here] = stream
        _clip(moments[here], spans[stream], first, last, starts[here], ends[here])
        if last_rows[stream] > 0:
            _count(joinable[here], last, starts[here], ends[here], kept[here])
        else:
            _keep(joinable[here], watermark, ends[here], kept[here])
        begin += parts[part, 1]
    return streams, starts, ends, kept


@kernel
def _clip(moments, span, first, last, starts, ends):
    for row in range(moments.size):
        start = min(max(moments[row], first), last)
        starts[row], ends[row] = start, min(start + span, last)


@kernel
def _keep(joinable, watermark, ends, kept):
    for row in range(ends.size):
        kept[row] = joinable[row] & (ends[row] >= watermark)


@kernel
def _count(joinable, last, starts, ends, kept):
    """All rows count; those that join nothing end before they start."""
    for row in range(ends.size):
        ends[row] = last if joinable[row] else starts[row] - 1
        kept[row] = True
