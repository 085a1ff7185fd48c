import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.index.grid import GREATEST, LEAST, build_grid, cells_of
from tests.index.boxes import cases


@given(cases(), st.integers(2, 40))
def test_cells_are_in_order_and_each_code_is_in_one(case, cells):
    grid = build_grid(case.lows, case.highs, cells)
    for axis, found in enumerate(cells_of(grid, case.points)):
        starts = grid.starts[axis, : grid.counts[axis]].tolist()
        assert starts == sorted(set(starts))
        assert starts[0] == LEAST
        for code, cell in zip(case.points[axis].tolist(), found.tolist(), strict=True):
            assert starts[cell] <= code
            assert cell + 1 == len(starts) or code < starts[cell + 1]


def test_few_ends_are_all_cuts():
    grid = build_grid(np.array([[3, LEAST, 3]]), np.array([[5, 8, GREATEST]]), 16)
    assert grid.starts[0, : grid.counts[0]].tolist() == [LEAST, 3, 6, 9]


def test_end_that_many_share_is_a_cut_and_the_others_are_spread():
    lows = np.concatenate([np.full(900, 500), np.arange(100) * 10])[None]
    grid = build_grid(lows, np.full_like(lows, GREATEST), 17)
    starts = grid.starts[0, : grid.counts[0]].tolist()
    assert 500 in starts
    assert len(starts) > 8


def test_points_of_other_axes_are_refused():
    with pytest.raises(KernelError, match="differ in axes: 2 1"):
        cells_of(build_grid(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64), 4), np.zeros((2, 3), np.int64))


def test_boxes_without_highs_are_refused():
    with pytest.raises(KernelError, match="as many lows as highs"):
        build_grid(np.zeros((1, 2), np.int64), np.zeros((1, 1), np.int64), 4)
