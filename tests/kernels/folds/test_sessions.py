import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.folds.sessions import number_sessions
from tests import oracles

intervals = st.lists(
    st.tuples(st.integers(0, 2), st.integers(-30, 30) | st.sampled_from([-(2**63), 2**63 - 40]), st.integers(0, 9)).map(
        lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=12,
).map(sorted)


@given(intervals=intervals, gap=st.integers(0, 12) | st.just(2**62))
def test_sessions_are_those_of_pairwise_comparison(intervals, gap):
    columns = [np.array(column, np.int64) for column in zip(*intervals, strict=True)] or [np.zeros(0, np.int64)] * 3
    assert number_sessions(*columns, gap).tolist() == oracles.number_sessions(intervals, gap)


def test_arrays_must_be_of_one_length():
    with pytest.raises(KernelError, match="differ in length"):
        number_sessions(np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(2, np.int64), 1)
