"""IBS trees, one per axis: intervals marked where a search passes, and what the trees find merged by counting.

A node has a value and three lists of intervals: those that hold all values its left subtree can have, those that
hold its own, and those that hold all values of its right subtree. A search for a value passes one node per level and
collects every interval that holds the value, once. A box is found if all its axes with an end are.

    Hanson, Chaabouni, Kim, Wang: A Predicate Matching Algorithm for Database Rule Systems, 1990.

Intervals that come later are marked in chains behind the lists, their ends become leaves, and no rotation
balances the tree again. One that is removed keeps its marks and is never found.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.kernels.index.match_pairs import grow_pairs
from skerry.model.arrays import Int32s, Int64s, UInt8s

__all__ = ["IntervalTrees"]


_LESS, _EQUAL, _GREATER = range(3)
_NEVER = 255
_ROOM = 256


class _Tree(NamedTuple):
    """One axis. Nodes and chains have room behind those in use."""

    values: Int64s
    children: Int32s
    """Node by side: the left and the right child, or -1."""
    firsts: Int64s
    """Node by list: where it begins in ``marks``; the end of the last behind them."""
    marks: Int32s
    heads: Int32s
    """Node by list: the first link of its chain, or -1."""
    links: Int32s
    """Link by link: an interval, and the next link."""
    used: Int64s
    """Nodes and links in use."""


class IntervalTrees:
    """Boxes over several axes, numbered from 0.

    >>> trees = IntervalTrees(np.array([[0, 5]]), np.array([[7, 9]]))
    >>> rows, boxes = trees.match(np.array([[3, 6]]))
    >>> sorted(zip(rows.tolist(), boxes.tolist()))
    [(0, 0), (1, 0), (1, 1)]
    """

    def __init__(self, lows: Int64s, highs: Int64s) -> None:
        lows, highs = (np.ascontiguousarray(array, np.int64) for array in (lows, highs))
        self._needed = _count_needed(lows, highs)
        self._trees = [_build_tree(low, high) for low, high in zip(lows, highs, strict=True)]

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return self._needed.nbytes + sum(array.nbytes for tree in self._trees for array in tree)

    def add(self, low: Int64s, high: Int64s) -> int:
        """Add a box; its number."""
        low, high = np.asarray(low, np.int64), np.asarray(high, np.int64)
        self._needed = np.concatenate([self._needed, _count_needed(low[:, None], high[:, None])])
        box = self._needed.size - 1
        for axis, tree in enumerate(self._trees):
            if _is_bounded(low[axis], high[axis]):
                self._trees[axis] = _make_room(tree)
                _add(self._trees[axis], low[axis], high[axis], box)
        return box

    def remove(self, box: int) -> None:
        """Remove a box."""
        self._needed[box] = _NEVER

    def match(self, points: Int64s) -> tuple[Int32s, Int32s]:
        """The pairs of a point and a box that it is in."""
        points = np.ascontiguousarray(points, np.int64)
        always = np.flatnonzero(self._needed == 0).astype(np.int32)
        row, filled, rows, found = 0, 0, np.empty(0, np.int32), np.empty(0, np.int32)
        while row < points.shape[1]:
            likely = int(filled / row * 1.05 * points.shape[1]) if row else 0
            size = max(likely, 2 * found.size) + 2 * self._needed.size
            rows, found = grow_pairs(rows, found, filled, size)
            until = points.shape[1] if row else min(points.shape[1], 64)
            row, filled = _match(tuple(self._trees), self._needed, always, points, row, until, rows, found, filled)
        return rows[:filled], found[:filled]


def _is_bounded(low: np.int64, high: np.int64) -> bool:
    return bool(low > LEAST or high < GREATEST)


def _count_needed(lows: Int64s, highs: Int64s) -> UInt8s:
    """On how many axes a box must be found; never enough for one that nothing is in."""
    needed = ((lows > LEAST) | (highs < GREATEST)).sum(axis=0).astype(np.uint8)
    needed[(lows > highs).any(axis=0)] = _NEVER
    return needed


def _build_tree(lows: Int64s, highs: Int64s) -> _Tree:
    """A balanced tree over all ends of intervals, with their marks."""
    bounded = ((lows > LEAST) | (highs < GREATEST)) & (lows <= highs)
    ends = np.concatenate([lows[bounded & (lows > LEAST)], highs[bounded & (highs < GREATEST)]])
    values = np.unique(ends) if ends.size else np.zeros(1, np.int64)
    size, boxes = values.size, np.flatnonzero(bounded).astype(np.int32)
    tree = _Tree(
        values=np.concatenate([values, np.empty(_ROOM, np.int64)]),
        children=np.full((size + _ROOM, 2), -1, np.int32),
        firsts=np.zeros(3 * (size + _ROOM) + 1, np.int64),
        marks=np.empty(0, np.int32),
        heads=np.full(3 * (size + _ROOM), -1, np.int32),
        links=np.empty((_ROOM * 256, 2), np.int32),
        used=np.array([size, 0, size // 2]),
    )
    _grow(tree.children, size)
    for filling in (False, True):
        counts = np.zeros(3 * (size + _ROOM), np.int64)
        _mark_all(tree, lows, highs, boxes, counts, filling)
        if not filling:
            tree = tree._replace(
                firsts=np.concatenate([[0], np.cumsum(counts)]), marks=np.empty(counts.sum(), np.int32)
            )
    return tree


def _make_room(tree: _Tree) -> _Tree:
    """The same tree, with room for two nodes and the marks of one interval."""
    nodes, links = tree.used[0], tree.used[1]
    if nodes + 2 > tree.values.size:
        more = tree.values.size
        tree = tree._replace(
            values=np.concatenate([tree.values, np.empty(more, np.int64)]),
            children=np.concatenate([tree.children, np.full((more, 2), -1, np.int32)]),
            firsts=np.concatenate([tree.firsts, np.full(3 * more, tree.firsts[-1])]),
            heads=np.concatenate([tree.heads, np.full(3 * more, -1, np.int32)]),
        )
    if links + 3 * (nodes + 2) > tree.links.shape[0]:
        tree = tree._replace(links=np.concatenate([tree.links, np.empty((3 * nodes + 6, 2), np.int32)]))
    return tree


@kernel
def _grow(children, size):
    """Link values in order into a balanced tree: the middle of each stretch is the root of the rest."""
    waiting = np.empty((128, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, size
    depth = 1
    while depth > 0:
        depth -= 1
        start, stop = waiting[depth, 0], waiting[depth, 1]
        middle = start + (stop - start) // 2
        for side in range(2):
            low, high = (start, middle) if side == 0 else (middle + 1, stop)
            if low < high:
                children[middle, side] = low + (high - low) // 2
                waiting[depth, 0], waiting[depth, 1] = low, high
                depth += 1


@kernel
def _note(tree, list_index, box, counts, how):
    """Count a mark, or write it into its list, or chain it."""
    if how == 2:
        link = tree.used[1]
        tree.used[1] += 1
        tree.links[link, 0] = box
        tree.links[link, 1] = tree.heads[list_index]
        tree.heads[list_index] = link
    else:
        if how == 1:
            tree.marks[tree.firsts[list_index] + counts[list_index]] = box
        counts[list_index] += 1


@kernel
def _mark(tree, low, high, box, counts, how, waiting):
    """Mark an interval: where it holds all that a subtree can have, there and no further down."""
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = tree.used[2], LEAST, GREATEST
    depth = 1
    while depth > 0:
        depth -= 1
        node, begin, end = waiting[depth, 0], waiting[depth, 1], waiting[depth, 2]
        value = tree.values[node]
        if low <= value <= high:
            _note(tree, 3 * node + _EQUAL, box, counts, how)
        for side in range(2):
            first, last = (begin, value) if side == 0 else (value, end)
            if low <= first and high >= last:
                _note(tree, 3 * node + 2 * side, box, counts, how)
            elif low <= last and high >= first and tree.children[node, side] >= 0:
                waiting[depth, 0], waiting[depth, 1], waiting[depth, 2] = tree.children[node, side], first, last
                depth += 1


@kernel
def _mark_all(tree, lows, highs, boxes, counts, filling):
    waiting = np.empty((256, 3), np.int64)
    for box in boxes:
        _mark(tree, lows[box], highs[box], box, counts, 1 if filling else 0, waiting)


@kernel
def _add(tree, low, high, box):
    if low > LEAST:
        _enter(tree, low)
    if high < GREATEST:
        _enter(tree, high)
    if low <= high:
        _mark(tree, low, high, box, np.empty(0, np.int64), 2, np.empty((tree.used[0] + 2, 3), np.int64))


@kernel
def _enter(tree, value):
    """Make a value a leaf. What held all of its gap holds the value and both new gaps, as marked at its ancestors."""
    node = tree.used[2]
    while tree.values[node] != value:
        side = 0 if value < tree.values[node] else 1
        if tree.children[node, side] < 0:
            tree.values[tree.used[0]] = value
            tree.children[node, side] = tree.used[0]
            tree.used[0] += 1
        node = tree.children[node, side]


@kernel
def _collect(tree, list_index, needed, counts, found, filled):
    for at in range(tree.firsts[list_index], tree.firsts[list_index + 1]):
        box = tree.marks[at]
        counts[box] += 1
        if counts[box] == needed[box]:
            found[filled] = box
            filled += 1
    link = tree.heads[list_index]
    while link >= 0:
        box = tree.links[link, 0]
        counts[box] += 1
        if counts[box] == needed[box]:
            found[filled] = box
            filled += 1
        link = tree.links[link, 1]
    return filled


@kernel
def _search(tree, value, needed, counts, found, filled):
    """Count the intervals that hold a value; write the boxes for which it was the last that was needed."""
    node = tree.used[2]
    while node >= 0:
        if value == tree.values[node]:
            filled = _collect(tree, 3 * node + _EQUAL, needed, counts, found, filled)
            node = -1
        else:
            side = 0 if value < tree.values[node] else 1
            filled = _collect(tree, 3 * node + 2 * side, needed, counts, found, filled)
            node = tree.children[node, side]
    return filled


@kernel
def _match(trees, needed, always, points, row, until, rows, found, filled):
    """Write pairs from a row on, as long as there is room for all boxes; the row and the pairs reached."""
    counts = np.empty(needed.size, np.uint8)
    while row < until and filled + needed.size <= found.size:
        before = filled
        for box in always:
            found[filled] = box
            filled += 1
        counts[:] = 0
        for axis in range(len(trees)):
            filled = _search(trees[axis], points[axis, row], needed, counts, found, filled)
        rows[before:filled] = row
        row += 1
    return row, filled
