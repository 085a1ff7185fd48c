"""The arrays of a multilevel grid file, and the search for all boxes that overlap a rectangle."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skerry.kernels._jit import kernel
from skerry.kernels.grid import cell_of

__all__ = ["FAN", "FIRST", "HEIGHT", "LAST", "NODES", "PAGES", "ROOT", "GridPages", "search"]

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

FAN = 32
"""How many entries a directory node has at the most."""
FIRST, LAST = range(2)
NODES, PAGES, ROOT, HEIGHT = range(4)
"""Counters: nodes and pages in use, the root, and how many levels of nodes there are."""


class GridPages(NamedTuple):
    """What kernels change."""

    bounds: Int64s
    """Box by coordinate: the low ends, then the high ones."""
    corners: Int32s
    """The same as cells."""
    members: Int32s
    """Page by place: boxes."""
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
    """Write the boxes that overlap a rectangle; how many they are."""
    axes, height = low.size, file.counters[HEIGHT]
    first, last = np.empty(axes, np.int32), np.empty(axes, np.int32)
    for axis in range(axes):
        first[axis] = cell_of(starts[axis], counts[axis], low[axis])
        last[axis] = cell_of(starts[axis], counts[axis], high[axis])
    waiting = np.empty((FAN * (height + 1), 2), np.int64)
    waiting[0, 0], waiting[0, 1] = file.counters[ROOT], height
    depth, filled = 1, 0
    while depth > 0:
        depth -= 1
        node, level = waiting[depth, 0], waiting[depth, 1]
        if level == 0:
            filled = _collect(file, node, low, high, found, filled)
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
def _collect(file, page, low, high, found, filled):
    axes = low.size
    while page >= 0:
        for place in range(file.sizes[page]):
            box = file.members[page, place]
            overlaps = True
            for axis in range(axes):
                overlaps &= (file.bounds[box, axis] <= high[axis]) & (file.bounds[box, axes + axis] >= low[axis])
            found[filled] = box
            filled += overlaps
        page = file.nexts[page]
    return filled
