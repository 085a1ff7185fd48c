import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.ahead import mark_ahead
from skerry.model.time import START_OF_TIME
from tests import oracles

moments = st.lists(st.integers(-20, 20) | st.sampled_from([1_000, 2_000]), max_size=50)


def times(values):
    return np.array(values, np.int64)


@given(moments, moments, st.none() | st.integers(-20, 20), st.integers(0, 30), st.integers(0, 10), st.booleans())
def test_marks_agree_with_a_reading_at_a_time(given, following, newest, far, near, strict):
    near = min(near, far)
    known = START_OF_TIME if newest is None else newest
    marks, after, _ = mark_ahead(times(given), times(following), known, far, near, strict=strict)
    expected, newest_after = oracles.mark_ahead(given, following, newest, far, near, strict=strict)
    assert (marks.tolist(), after) == (expected, START_OF_TIME if newest_after is None else newest_after)


@given(moments, moments, st.integers(0, 50))
def test_marks_do_not_depend_on_where_readings_are_cut(given, following, position):
    whole, _, _ = mark_ahead(times(given), times(following), -20, 30, 10, strict=False)
    first, newest, _ = mark_ahead(
        times(given[:position]), times(given[position:] + following), -20, 30, 10, strict=False
    )
    second, _, _ = mark_ahead(times(given[position:]), times(following), newest, 30, 10, strict=False)
    assert np.concatenate([first, second]).tolist() == whole.tolist()


def test_a_burst_of_a_wrong_clock_is_marked_whole():
    stored = [*range(100), *range(10_000, 10_200), *range(100, 1_200)]
    marks, newest, _ = mark_ahead(times(stored), times([]), START_OF_TIME, 50, 50, strict=False)
    assert np.flatnonzero(marks).tolist() == list(range(100, 300))
    assert newest == 1_199


def test_time_that_goes_on_after_a_gap_is_not_ahead():
    marks, newest, _ = mark_ahead(times([1, 2, 3, 900, 901]), times([]), START_OF_TIME, 50, 50, strict=True)
    assert (marks.any(), newest) == (False, 901)
