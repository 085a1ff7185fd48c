"""The arrays of a multilevel grid file, and the search for all boxes that overlap a rectangle."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import cell_of
from skerry.model.arrays import Int32s, Int64s

__all__ = ["FAN", "FIRST", "HEIGHT", "LAST", "NODES", "PAGE", "PAGES", "ROOT", "GridPages", "search"]


FAN = 32
"""How many entries a directory node has at the most."""
PAGE = 64
"""How many boxes a page has at the most."""
FIRST, LAST = range(2)
NODES, PAGES, ROOT, HEIGHT = range(4)
"""Counters: nodes and pages in use, the root, and how many levels of nodes there are."""


class GridPages(NamedTuple):
    """The arrays of a grid file; kernels write to them."""

    bounds: Int64s
    """Box by coordinate: the low ends, then the high ones."""
    corners: Int32s
    """The same as cells."""
    members: Int32s
    """Page by slot: boxes."""
    ends: Int64s
    """Page by coordinate by slot: their bounds once more, side by side, so that several are tested at once."""
    cells: npt.NDArray[np.int16]
    """And their corners."""
    sizes: Int32s
    """How many boxes a page has."""
    nexts: Int32s
    """The page that goes on where one cannot be halved, or -1."""
    regions: Int32s
    """Node by entry by coordinate: first and last cell."""
    children: Int32s
    """Node by entry: a node below, or a page."""
    turns: Int32s
    """Node by entry: the coordinate whose turn it is to be halved."""
    fans: Int32s
    """How many entries a node has."""
    counters: Int64s


@kernel
def search(starts, counts, file, low, high, found):
    """Write the positions, page times ``PAGE`` plus slot, of the boxes that overlap a rectangle; how many they are."""
    axes, height = low.size, file.counters[HEIGHT]
    first, last = np.empty(axes, np.int32), np.empty(axes, np.int32)
    for axis in range(axes):
        first[axis] = cell_of(starts[axis], counts[axis], low[axis])
        last[axis] = cell_of(starts[axis], counts[axis], high[axis])
    waiting = np.empty((FAN * (height + 1), 2), np.int64)
    waiting[0, 0], waiting[0, 1] = file.counters[ROOT], height
    depth, filled, overlaps = 1, 0, np.empty(PAGE, np.uint8)
    while depth > 0:
        depth -= 1
        node, level = waiting[depth, 0], waiting[depth, 1]
        if level == 0:
            filled = _collect(file, node, low, high, overlaps, found, filled)
        else:
            for entry in range(file.fans[node]):
                if _meets(file.regions[node, entry], first, last):
                    waiting[depth, 0], waiting[depth, 1] = file.children[node, entry], level - 1
                    depth += 1
    return filled


@kernel
def _meets(regions, low, high):
    """Whether a region has boxes that overlap a rectangle of cells: whether it meets the spatial join window."""
    axes, meets = low.size, True
    for axis in range(axes):
        meets &= (regions[axis, FIRST] <= high[axis]) & (regions[axes + axis, LAST] >= low[axis])
    return meets


@kernel
def _collect(file, page, low, high, overlaps, found, filled):
    axes, words = low.size, overlaps.view(np.uint64)
    while page >= 0:
        size = file.sizes[page]
        overlaps[:size] = 1
        overlaps[size:] = 0
        for axis in range(axes):
            first, last, lows, highs = low[axis], high[axis], file.ends[page, axis], file.ends[page, axes + axis]
            for slot in range(PAGE):
                overlaps[slot] &= np.uint8((lows[slot] <= last) & (highs[slot] >= first))
        for eight in range(words.size):
            if words[eight] != 0:
                for slot in range(8 * eight, min(8 * eight + 8, size)):
                    found[filled] = page * PAGE + slot
                    filled += overlaps[slot]
        page = file.nexts[page]
    return filled
