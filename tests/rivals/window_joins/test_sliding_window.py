import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.kernels.index.grid import Grid, cells_of
from skerry.rivals.query_index.hilbert_curve import hilbert_keys
from skerry.rivals.window_joins.sliding_window import Elements, NearbyElements

GRID = Grid(np.array([[-(2**63), 2, 4, 6], [-(2**63), 3, 3, 3]]), np.array([4, 2]))
steps = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.integers(0, 2)), max_size=150)


def positions(points):
    return hilbert_keys(cells_of(GRID, points), 8)


@settings(max_examples=50)
@given(steps, st.integers(1, 120))
def test_windows_hold_the_elements_of_their_span_each_in_its_order(steps, span):
    plain, nearby, came, time = Elements(2), NearbyElements(GRID), [], 0
    for x, y, pause in steps:
        time += pause
        came.append((x, y, time))
        for window in (plain, nearby):
            window.expire(time - span + 1)
            assert window.insert(np.array([x, y]), time) == len(came) - 1
        held = [ordinal for ordinal, (_, _, moment) in enumerate(came) if moment > time - span]
        assert plain.ordinals.tolist() == held
        assert sorted(nearby.ordinals.tolist()) == held
        assert (np.diff(positions(nearby.points_of(nearby.ordinals))) >= 0).all()
        for window in (plain, nearby):
            held_values = [*window.points_of(np.array(held)).tolist(), window.times_of(np.array(held)).tolist()]
            assert held_values == [list(column) for column in zip(*(came[ordinal] for ordinal in held), strict=True)]


def test_empty_window_holds_nothing():
    window = NearbyElements(GRID)
    window.expire(10)
    assert len(window) == 0
    assert window.ordinals.size == 0
