import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.joins.lifetimes import WindowSizes, find_lifetimes

FIRST, LAST = -20, 20

windows = st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 3])), min_size=3, max_size=3)
parts = st.lists(st.tuples(st.integers(0, 2), st.lists(st.tuples(st.integers(-40, 40), st.booleans()))), max_size=4)


def life(moment, joinable, span, counted, watermark):
    """From when and until when, and whether to be kept: the slow, obvious twin."""
    start = sorted([FIRST, moment, LAST])[1]
    if counted:
        return start, LAST if joinable else start - 1, True
    end = min(start + span, LAST)
    return start, end, joinable and end >= watermark


@given(parts, windows, st.integers(-40, 40))
def test_lives_agree_with_those_of_one_tuple_at_a_time(parts, windows, watermark):
    tuples = [(stream, *each) for stream, members in parts for each in members]
    sizes = np.array([(stream, len(members)) for stream, members in parts], np.int64).reshape(-1, 2)
    spans, counts = np.array(windows, np.int64).T
    moments, joinable = np.array([t[1] for t in tuples], np.int64), np.array([t[2] for t in tuples], np.bool_)
    found = find_lifetimes(moments, joinable, sizes, WindowSizes(spans.copy(), counts.copy(), FIRST, LAST), watermark)
    expected = [(t[0], *life(t[1], t[2], *windows[t[0]], watermark)) for t in tuples]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected


def test_parts_that_are_not_as_long_as_the_tuples_are_refused():
    none = np.zeros(1, np.int64)
    with pytest.raises(KernelError, match="differ in length: 1 1 2"):
        find_lifetimes(none, np.ones(1, np.bool_), np.array([[0, 2]]), WindowSizes(none, none, 0, 1), 0)
