import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.over import find_extremes, find_range_bounds, order_by_group

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6), st.booleans()), max_size=25).map(sorted)


def spread(drawn):
    """Sorted rows as arrays, and where the partition of each begins and ends."""
    numbers = np.array([number for number, _, _ in drawn], np.int64)
    starts, stops = np.searchsorted(numbers, numbers), np.searchsorted(numbers, numbers, side="right")
    return numbers, np.array([time for _, time, _ in drawn], np.int64), starts, stops


@given(drawn=rows, offset=st.integers(-5, 5))
def test_range_bounds_are_those_of_a_search_row_by_row(drawn, offset):
    _, times, starts, stops = spread(drawn)
    for is_end in (False, True):
        expected = []
        for row, moment in enumerate(times + offset):
            inside = range(starts[row], stops[row])
            expected.append(next((r for r in inside if times[r] > moment - (not is_end)), stops[row]))
        assert find_range_bounds(times, starts, stops, offset, is_end=is_end).tolist() == expected


@given(drawn=rows, back=st.integers(-2, 5), ahead=st.integers(-2, 5))
def test_extremes_are_those_of_each_frame_alone(drawn, back, ahead):
    _, codes, starts, stops = spread(drawn)
    valid, positions = np.array([each for _, _, each in drawn], np.bool_), np.arange(len(drawn))
    codes = codes[np.argsort(positions * 7 % max(len(drawn), 1), kind="stable")]
    low = np.clip(positions - back, starts, stops)
    high = np.maximum(low, np.clip(positions + ahead + 1, starts, stops))
    for highest, choose in ((False, min), (True, max)):
        frames = [[r for r in range(a, b) if valid[r]] for a, b in zip(low, high, strict=True)]
        expected = [choose(frame, key=lambda row: codes[row]) if frame else -1 for frame in frames]
        assert find_extremes(codes, valid, low, high, highest=highest).tolist() == expected


@given(numbers=st.lists(st.integers(0, 4), max_size=20))
def test_rows_of_a_group_stay_as_they_stand(numbers):
    found = order_by_group(np.array(numbers, np.int64), 5).tolist()
    assert found == sorted(range(len(numbers)), key=lambda row: numbers[row])
