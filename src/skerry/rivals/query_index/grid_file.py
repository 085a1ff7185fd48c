"""A multilevel grid file over boxes as points: the low and high ends of n axes are 2n coordinates.

A page holds boxes of one region of that space. A full page is halved in the middle of one coordinate, the
coordinates taking turns; one that would part no boxes waits. Directory nodes list regions, and are halved the
same way, so that the tree stays level.

    Whang, Krishnamurthy: The Multilevel Grid File, 1991. Seeger, Kriegel: corner transformation, 1988.

Boxes that overlap a rectangle are the points of one window: low ends up to its high ones, high ends from its
low ones on (Song et al., spatial join window, 1999). Coordinates are cells of a fine grid, so that halves hold
about as many ends; boxes in the window are tested by their exact ends.
"""

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import Grid, build_grid, cell_of
from skerry.model.arrays import Int32s, Int64s
from skerry.rivals.query_index.grid_file_pages import (
    FAN,
    FIRST,
    HEIGHT,
    LAST,
    NODES,
    PAGE,
    PAGES,
    ROOT,
    GridPages,
    search,
)

__all__ = ["GridFile"]


_CELLS = 4096
_FEWEST = 64


class GridFile:
    """Boxes over several axes, numbered from 0.

    >>> boxes = GridFile(np.array([[0, 5]]), np.array([[7, 9]]))
    >>> boxes.overlapping(np.array([8]), np.array([20])).tolist()
    [1]
    """

    def __init__(self, lows: Int64s, highs: Int64s) -> None:
        if lows.shape != highs.shape:
            raise KernelError("boxes have as many lows as highs, but got", lows.shape, highs.shape)
        self.grid = build_grid(lows, highs, _CELLS)
        count, axes = lows.shape[1], lows.shape[0]
        self._file = _make_empty(2 * axes, count)
        self._file.bounds[:count, :axes], self._file.bounds[:count, axes:] = lows.T, highs.T
        self._count = 0
        for box in range(count):
            self._insert(box)

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(array.nbytes for array in self._file)

    @property
    def bounds(self) -> Int64s:
        """Box by coordinate: the low ends, then the high ones."""
        return self._file.bounds

    def add(self, low: Int64s, high: Int64s) -> int:
        """Add a box; its number."""
        box = self._count
        if box == self._file.bounds.shape[0]:
            self._file = self._file._replace(
                bounds=np.concatenate([self._file.bounds, np.empty_like(self._file.bounds)]),
                corners=np.concatenate([self._file.corners, np.empty_like(self._file.corners)]),
            )
        axes = low.size
        self._file.bounds[box, :axes], self._file.bounds[box, axes:] = low, high
        self._insert(box)
        return box

    def remove(self, box: int) -> None:
        """Remove a box."""
        _remove(self._file, box)

    def overlapping(self, low: Int64s, high: Int64s) -> Int32s:
        """The boxes that overlap a rectangle, in no order."""
        found = np.empty(self._count, np.int32)
        count = search(*self.grid, self._file, np.asarray(low, np.int64), np.asarray(high, np.int64), found)
        return self._file.members.ravel()[found[:count]]

    def parts(self) -> tuple[Grid, "GridPages"]:
        """For kernels that search."""
        return self.grid, self._file

    def _insert(self, box: int) -> None:
        while not _insert(*self.grid, self._file, box):
            self._file = _grow(self._file)
        self._count = box + 1


def _make_empty(coordinates: int, count: int) -> GridPages:
    """A root with one entry, for one empty page."""
    boxes, pages, nodes = max(count, _FEWEST), count // (PAGE // 2) + _FEWEST, count // PAGE // 4 + _FEWEST
    file = GridPages(
        bounds=np.empty((boxes, coordinates), np.int64),
        corners=np.empty((boxes, coordinates), np.int32),
        members=np.empty((pages, PAGE), np.int32),
        ends=np.zeros((pages, coordinates, PAGE), np.int64),
        cells=np.zeros((pages, coordinates, PAGE), np.int16),
        sizes=np.zeros(pages, np.int32),
        nexts=np.full(pages, -1, np.int32),
        regions=np.empty((nodes, FAN, coordinates, 2), np.int32),
        children=np.empty((nodes, FAN), np.int32),
        turns=np.zeros((nodes, FAN), np.int32),
        fans=np.zeros(nodes, np.int32),
        counters=np.array([1, 1, 0, 1]),
    )
    file.regions[0, 0, :, FIRST], file.regions[0, 0, :, LAST] = 0, _CELLS - 1
    file.children[0, 0], file.fans[0] = 0, 1
    return file


def _grow(file: GridPages) -> GridPages:
    """The same file, with room for as many pages and nodes again."""
    return file._replace(
        members=_double(file.members),
        ends=np.concatenate([file.ends, np.zeros_like(file.ends)]),
        cells=np.concatenate([file.cells, np.zeros_like(file.cells)]),
        sizes=np.concatenate([file.sizes, np.zeros_like(file.sizes)]),
        nexts=np.concatenate([file.nexts, np.full_like(file.nexts, -1)]),
        regions=_double(file.regions),
        children=_double(file.children),
        turns=_double(file.turns),
        fans=np.concatenate([file.fans, np.zeros_like(file.fans)]),
    )


def _double(array: Int32s) -> Int32s:
    return np.concatenate([array, np.empty_like(array)])


@kernel
def _insert(starts, counts, file, box):
    axes = starts.shape[0]
    for coordinate in range(2 * axes):
        axis = coordinate % axes
        file.corners[box, coordinate] = cell_of(starts[axis], counts[axis], file.bounds[box, coordinate])
    placed = False
    while not placed and _has_room(file):
        placed = _try(file, box)
    return placed


@kernel
def _has_room(file):
    """Whether one way down can be made: it may halve a node a level, raise the root, and add a page."""
    pages, nodes = file.counters[PAGES] + 1, file.counters[NODES] + file.counters[HEIGHT] + 2
    return pages < file.sizes.size and nodes < file.fans.size


@kernel
def _try(file, box):
    """Go down to the page of a box, halving full nodes on the way. False if the page had to be halved too."""
    if file.fans[file.counters[ROOT]] == FAN:
        _raise(file)
    node = file.counters[ROOT]
    for _ in range(file.counters[HEIGHT] - 1):
        entry = _entry_of(file, node, box)
        if file.fans[file.children[node, entry]] == FAN:
            _halve_node(file, node, entry)
            entry = _entry_of(file, node, box)
        node = file.children[node, entry]
    entry = _entry_of(file, node, box)
    page = file.children[node, entry]
    if file.sizes[page] == PAGE:
        coordinate = _choose_coordinate(file, node, entry, box)
        if coordinate >= 0:
            if file.fans[node] < FAN:
                _halve_page(file, node, entry, coordinate)
            return False
        while file.sizes[page] == PAGE:
            if file.nexts[page] < 0:
                file.nexts[page] = file.counters[PAGES]
                file.counters[PAGES] += 1
            page = file.nexts[page]
    _put(file, page, file.sizes[page], box)
    file.sizes[page] += 1
    return True


@kernel
def _put(file, page, slot, box):
    file.members[page, slot] = box
    for coordinate in range(file.bounds.shape[1]):
        file.ends[page, coordinate, slot] = file.bounds[box, coordinate]
        file.cells[page, coordinate, slot] = file.corners[box, coordinate]


@kernel
def _entry_of(file, node, box):
    """The entry of a node whose region has a box."""
    entry, inside = -1, False
    while not inside:
        entry += 1
        inside = True
        for coordinate in range(file.corners.shape[1]):
            region = file.regions[node, entry, coordinate]
            corner = file.corners[box, coordinate]
            inside &= (region[FIRST] <= corner) & (corner <= region[LAST])
    return entry


@kernel
def _raise(file):
    """Put a new root over the old one, and halve that."""
    root = file.counters[NODES]
    file.counters[NODES] += 1
    file.regions[root, 0, :, FIRST] = 0
    file.regions[root, 0, :, LAST] = _CELLS - 1
    file.children[root, 0] = file.counters[ROOT]
    file.turns[root, 0] = 0
    file.fans[root] = 1
    file.counters[ROOT] = root
    file.counters[HEIGHT] += 1
    _halve_node(file, root, 0)


@kernel
def _append(file, node, entry, coordinate, child):
    """Halve the region of an entry; a new entry has the upper half. Gives it, and where the upper half begins."""
    new = file.fans[node]
    file.fans[node] += 1
    file.regions[node, new] = file.regions[node, entry]
    region = file.regions[node, entry, coordinate]
    middle = (region[FIRST] + region[LAST]) // 2 + 1
    file.regions[node, new, coordinate, FIRST] = middle
    file.regions[node, entry, coordinate, LAST] = middle - 1
    file.children[node, new] = child
    file.turns[node, entry] = file.turns[node, new] = (coordinate + 1) % file.corners.shape[1]
    return middle


@kernel
def _halve_node(file, node, entry):
    """Halve a full node where none of its regions is cut: one coordinate at least was halved before all others."""
    child, coordinate = file.children[node, entry], file.turns[node, entry]
    while not _is_clean(file, child, file.regions[node, entry, coordinate], coordinate):
        coordinate = (coordinate + 1) % file.corners.shape[1]
    other = file.counters[NODES]
    file.counters[NODES] += 1
    middle = _append(file, node, entry, coordinate, other)
    kept, moved = 0, 0
    for index in range(file.fans[child]):
        target, slot = (child, kept) if file.regions[child, index, coordinate, FIRST] < middle else (other, moved)
        file.regions[target, slot] = file.regions[child, index]
        file.children[target, slot] = file.children[child, index]
        file.turns[target, slot] = file.turns[child, index]
        kept += target == child
        moved += target == other
    file.fans[child], file.fans[other] = kept, moved


@kernel
def _is_clean(file, node, region, coordinate):
    """Whether no region of a node lies on both sides of the middle."""
    middle = (region[FIRST] + region[LAST]) // 2 + 1
    clean = region[FIRST] < region[LAST]
    for entry in range(file.fans[node]):
        own = file.regions[node, entry, coordinate]
        clean &= (own[LAST] < middle) | (own[FIRST] >= middle)
    return clean


@kernel
def _choose_coordinate(file, node, entry, box):
    """By which coordinate to halve a page that lacks room for a box; -1 if that and all others have the same corners.

    The next that parts them in the middle of the region; if none does, the next in which they differ.
    """
    coordinates, page = file.corners.shape[1], file.children[node, entry]
    differing = parting = -1
    for turn in range(coordinates):
        coordinate = (file.turns[node, entry] + turn) % coordinates
        region = file.regions[node, entry, coordinate]
        least, most = _find_range(file, page, coordinate, file.corners[box, coordinate])
        if least < most and differing < 0:
            differing = coordinate
        if least <= (region[FIRST] + region[LAST]) // 2 < most and parting < 0:
            parting = coordinate
    return parting if parting >= 0 else differing


@kernel
def _find_range(file, page, coordinate, corner):
    """The least and the greatest corner of the boxes of a page, of those that it goes on with, and of one more."""
    least = most = corner
    while page >= 0:
        for slot in range(file.sizes[page]):
            own = file.corners[file.members[page, slot], coordinate]
            least, most = min(least, own), max(most, own)
        page = file.nexts[page]
    return least, most


@kernel
def _halve_page(file, node, entry, coordinate):
    """Halve a page. The boxes of its overflow pages share one corner, and go with the half that has it."""
    page, other = file.children[node, entry], file.counters[PAGES]
    file.counters[PAGES] += 1
    middle = _append(file, node, entry, coordinate, other)
    further = file.nexts[page]
    while further >= 0 and file.sizes[further] == 0:
        further = file.nexts[further]
    if further >= 0 and file.corners[file.members[further, 0], coordinate] >= middle:
        file.nexts[other] = further
        file.nexts[page] = -1
    kept = 0
    for slot in range(file.sizes[page]):
        box = file.members[page, slot]
        if file.corners[box, coordinate] < middle:
            _put(file, page, kept, box)
            kept += 1
        else:
            _put(file, other, file.sizes[other], box)
            file.sizes[other] += 1
    file.sizes[page] = kept


@kernel
def _remove(file, box):
    node = file.counters[ROOT]
    for _ in range(file.counters[HEIGHT] - 1):
        node = file.children[node, _entry_of(file, node, box)]
    page = file.children[node, _entry_of(file, node, box)]
    slot = 0
    while slot == file.sizes[page] or file.members[page, slot] != box:
        slot += 1
        if slot >= file.sizes[page]:
            page, slot = file.nexts[page], 0
    file.sizes[page] -= 1
    _put(file, page, slot, file.members[page, file.sizes[page]])
