"""Which windows a watermark closes, and which rows of slices they are made of."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int64s
from skerry.model.time import Micros
from skerry.model.window import Window
from skerry.operators.partial_aggregate import SLICE

__all__ = ["ClosingWindows", "find_closing", "last_ends"]


class ClosingWindows(NamedTuple):
    """Windows, by where they start, and the rows from ``first`` to before ``end`` that are theirs."""

    starts: Int64s
    firsts: Int64s
    ends: Int64s

    def take(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of all windows, one window's after the other's, each with the window's start in place of a slice."""
        counts = self.ends - self.firsts
        offsets = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) + np.repeat(self.firsts - offsets, counts)
        return batch.take(pa.array(rows)).set_column(0, SLICE, pa.array(np.repeat(self.starts, counts)))


def last_ends(window: Window, slices: Int64s) -> Int64s:
    """When the last window ends that each slice, by its start, is in. Slices begin where a window does, or within.

    >>> from skerry.model.time import Micros
    >>> last_ends(Window(Micros(6), Micros(2)), np.array([0, 2, 3])).tolist()
    [6, 8, 8]
    """
    return _find_newest_starts(window, slices) + window.size_us


def find_closing(window: Window, slices: Int64s, closed: Micros, watermark: Micros) -> ClosingWindows:
    """The windows that end after ``closed`` and not after ``watermark`` and have a row in ``slices``, in order.

    Costs a binary search per window. Where a reading is far from the others, there may be more windows without rows
    than rows: then the windows of each slice are looked for.
    """
    low = max(int(closed) + 1, int(slices[0]) + 1)
    high = min(int(watermark), int(_find_newest_starts(window, slices[-1:])[0]) + window.size_us)
    phase = (window.origin_us + window.size_us) % window.slide_us
    first, last = -((phase - low) // window.slide_us), (high - phase) // window.slide_us
    if last - first < 2 * slices.size + 16:
        ends = np.arange(first, last + 1) * window.slide_us + phase
    else:
        ends = _find_ends(window, slices)
        ends = ends[(ends >= low) & (ends <= high)]
    firsts, stops = np.searchsorted(slices, ends - window.size_us), np.searchsorted(slices, ends)
    kept = stops > firsts
    return ClosingWindows(ends[kept] - window.size_us, firsts[kept], stops[kept])


def _find_ends(window: Window, slices: Int64s) -> Int64s:
    """The ends of all windows that any slice is in."""
    newest = np.unique(_find_newest_starts(window, np.unique(slices)))
    back = np.arange(0, window.size_us, window.slide_us)
    return np.unique(newest[:, None] - back) + window.size_us


def _find_newest_starts(window: Window, slices: Int64s) -> Int64s:
    """The start of the last window that each slice is in."""
    return (slices - window.origin_us) // window.slide_us * window.slide_us + window.origin_us
