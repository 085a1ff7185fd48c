"""Every structure finds what brute force finds, whatever has come and gone."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.index.box_index import BoxIndex
from skerry.index.prefiltered_boxes import PrefilteredBoxes
from skerry.kernels.index.box_bitmaps import BoxBitmaps
from skerry.kernels.index.box_blocks import BoxBlocks
from skerry.kernels.index.grid import GREATEST, LEAST, build_grid
from skerry.rivals.query_index.brute_force import brute_force
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.ibs_trees import IntervalTrees
from skerry.rivals.query_index.spatial_join import join_batch, join_immediately
from tests.index.boxes import Case, cases, inside, pairs


class Gridded:
    """Bitmaps or blocks, over a grid made for the boxes at first."""

    def __init__(self, kind, lows, highs):
        self.held = kind(build_grid(lows, highs, 16), lows, highs, np.arange(lows.shape[1]))
        self.add, self.remove, self.match = self.held.add, self.held.remove, self.held.match


class Behind(Gridded):
    """The same behind a sieve."""

    def __init__(self, kind, lows, highs):
        super().__init__(kind, lows, highs)
        self.prefiltered = PrefilteredBoxes(self.held, lows, highs)
        self.add, self.remove, self.match = self.prefiltered.add, self.prefiltered.remove, self.prefiltered.match


class Shipped:
    """The index of boxes."""

    def __init__(self, lows, highs):
        self.held = BoxIndex.of(lows, highs)
        self.remove, self.match = self.held.remove, self.held.match

    def add(self, number, low, high):
        self.held.add(number, {axis: ends for axis, ends in enumerate(zip(low.tolist(), high.tolist(), strict=True))})


class Trees:
    """IBS trees."""

    def __init__(self, lows, highs):
        self.held = IntervalTrees(lows, highs)
        self.remove, self.match = self.held.remove, self.held.match

    def add(self, number, low, high):
        assert self.held.add(low, high) == number


class Joined(Trees):
    """Spatial Join CQ."""

    def __init__(self, join, lows, highs):
        self.held = GridFile(lows, highs)
        self.remove, self.match = self.held.remove, partial(join, self.held)


STRUCTURES = {
    "bitmaps": partial(Gridded, BoxBitmaps),
    "blocks": partial(Gridded, BoxBlocks),
    "sifted bitmaps": partial(Behind, BoxBitmaps),
    "sifted blocks": partial(Behind, BoxBlocks),
    "shipped": Shipped,
    "IBS": Trees,
    "SJ-Immediate": partial(Joined, join_immediately),
    "SJ-Batch": partial(Joined, partial(join_batch, cluster=7)),
}
structures = pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)


@settings(max_examples=40)
@given(case=cases())
def test_brute_force_finds_what_plain_loops_find(case):
    assert pairs(brute_force(*case)) == inside(case)


@structures
@settings(max_examples=40)
@given(case=cases())
def test_structure_finds_what_brute_force_finds(structure, case):
    assert pairs(structure(case.lows, case.highs).match(case.points)) == pairs(brute_force(*case))


@structures
@settings(max_examples=40)
@given(case=cases(min_boxes=1), data=st.data())
def test_boxes_come_and_go(structure, case, data):
    count = case.lows.shape[1]
    first = data.draw(st.integers(0, count))
    held = structure(case.lows[:, :first], case.highs[:, :first])
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    left = set(range(first))
    for number in range(first, count):
        if left and random.random() < 0.3:
            gone = random.choice(sorted(left))
            held.remove(int(gone))
            left.remove(gone)
        held.add(number, case.lows[:, number], case.highs[:, number])
        left.add(number)
        if random.random() < 0.02:
            assert pairs(held.match(case.points)) == inside(case, left)
    assert pairs(held.match(case.points)) == inside(case, left)


@structures
def test_boxes_that_are_all_the_same_are_all_found(structure):
    lows = np.full((2, 400), 5)
    held = structure(lows[:, :200], lows[:, :200])
    for number in range(200, 400):
        held.add(number, lows[:, number], lows[:, number])
    assert pairs(held.match(np.array([[5, 5], [5, 6]]))) == [(0, box) for box in range(400)]


@structures
def test_doubles_of_one_thousand_boxes(structure):
    random = np.random.default_rng(1)
    lows = random.random((3, 3000)).view(np.int64)
    highs = (lows.view(np.float64) + random.choice([0.0, 0.05, 0.9], (1, 3000))).view(np.int64)
    case = Case(lows, highs, random.random((3, 200)).view(np.int64))
    assert pairs(structure(lows, highs).match(case.points)) == pairs(brute_force(*case))


@structures
def test_more_axes_than_a_word_has_bits(structure):
    random = np.random.default_rng(2)
    lows, highs = np.full((70, 300), LEAST), np.full((70, 300), GREATEST)
    for box in range(300):
        for axis in random.choice([0, 1, 62, 63, 64, 69], random.integers(0, 3), replace=False):
            lows[axis, box], highs[axis, box] = np.sort(random.integers(0, 20, 2))
    case = Case(lows, highs, random.integers(0, 20, (70, 30)))
    assert pairs(structure(lows, highs).match(case.points)) == pairs(brute_force(*case))
