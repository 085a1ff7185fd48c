import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.index.clusters import cluster_boxes, measure_coverage
from skerry.kernels.index.grid import build_grid
from tests.index.boxes import cases


@given(cases(), st.integers(1, 64))
def test_every_box_is_in_one_cluster_that_is_not_too_large(case, most):
    grid = build_grid(case.lows, case.highs, 16)
    order, firsts = cluster_boxes(grid, case.lows, case.highs, most)
    assert sorted(order.tolist()) == list(range(case.lows.shape[1]))
    assert firsts[-1] == order.size
    assert all(0 < size <= most for size in np.diff(firsts).tolist())
    assert measure_coverage(grid, case.lows, case.highs, order, firsts).size == firsts.size - 1


def test_neighbours_are_together():
    random = np.random.default_rng(0)
    lows = random.integers(0, 10_000, (2, 4096))
    grid = build_grid(lows, lows + 100, 64)
    order, firsts = cluster_boxes(grid, lows, lows + 100, 64)
    clustered = measure_coverage(grid, lows, lows + 100, order, firsts).mean()
    scattered = measure_coverage(grid, lows, lows + 100, random.permutation(4096), firsts).mean()
    assert clustered < scattered / 20
