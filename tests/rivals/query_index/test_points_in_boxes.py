import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.kernels.index.grid import GREATEST, LEAST, Grid
from skerry.rivals.query_index.brute_force import brute_force
from skerry.rivals.query_index.grid_file import GridFile
from skerry.rivals.query_index.points_in_boxes import make_ranked_points, mark_inside, sort_axis, write_points
from skerry.rivals.query_index.spatial_join import join_batch

GRID = Grid(np.array([[LEAST, 0, 5, 9]]), np.array([4]))
CUTS = [LEAST, 0, 5, 9]
ends = st.one_of(st.sampled_from([LEAST, LEAST + 1, GREATEST]), st.integers(-3, 12))


def cell(code):
    return max(index for index, cut in enumerate(CUTS) if cut <= code)


@settings(max_examples=60)
@given(st.lists(ends, min_size=1, max_size=150), ends, ends)
def test_points_between_two_ends_are_marked(codes, low, high):
    ranked, bits = make_ranked_points(1, 150, 4), np.empty(3, np.uint64)
    sort_axis(ranked, 0, np.array(codes), GRID.starts[0], GRID.counts[0])
    box = np.array([[[low], [high]]]), np.array([[[cell(low)], [cell(high)]]])
    expected = [index for index, code in enumerate(codes) if low <= code <= high]
    assert mark_inside(ranked, *box, 0, 0, np.array([0]), bits) == bool(expected)
    if expected:
        rows, found = np.empty(150, np.int32), np.empty(150, np.int32)
        filled = write_points(bits, np.arange(150), 0, 7, rows, found, 0)
        assert rows[:filled].tolist() == expected
        assert (found[:filled] == 7).all()


@pytest.mark.parametrize("cluster", [1, 63, 64, 65, 200, 700])
def test_clusters_of_any_size_find_the_same(cluster):
    random = np.random.default_rng(4)
    lows = random.integers(0, 50, (3, 900))
    highs, points = lows + random.integers(0, 30, (3, 900)), random.integers(0, 60, (3, 500))
    pairs = (
        sorted(zip(*(array.tolist() for array in found), strict=True))
        for found in (join_batch(GridFile(lows, highs), points, cluster), brute_force(lows, highs, points))
    )
    one, other = pairs
    assert one == other
