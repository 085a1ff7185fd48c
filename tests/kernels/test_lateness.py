import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.lateness import mark_late
from skerry.model.time import START_OF_TIME
from tests import oracles

moments = st.integers(-20, 20)


@given(st.lists(moments), moments | st.just(START_OF_TIME), st.integers(0, 10))
def test_lateness_agrees_with_a_reading_at_a_time(given, newest, delay):
    late, count, after = mark_late(np.array(given, np.int64), newest, delay)
    assert (late.tolist(), after) == oracles.mark_late(given, newest, delay)
    assert count == late.sum()


@given(st.lists(moments), st.integers(0, 20), st.integers(0, 10))
def test_lateness_does_not_depend_on_where_a_split_is_cut(given, position, delay):
    first, _, newest = mark_late(np.array(given[:position], np.int64), -20, delay)
    second, _, _ = mark_late(np.array(given[position:], np.int64), newest, delay)
    whole, _, _ = mark_late(np.array(given, np.int64), -20, delay)
    assert np.concatenate([first, second]).tolist() == whole.tolist()


def test_reading_on_the_watermark_is_in_time():
    assert mark_late(np.array([10, 5, 4]), START_OF_TIME, 5)[0].tolist() == [False, False, True]
