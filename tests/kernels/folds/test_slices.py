import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.folds.slices import find_slices

moments = st.lists(st.integers(-(2**61), 2**61) | st.integers(-100, 100), max_size=30)
rhythms = st.lists(st.tuples(st.integers(1, 2**40) | st.integers(1, 20), st.integers(0, 30)), min_size=1, max_size=4)


@given(moments=moments, rhythms=rhythms)
def test_a_slice_starts_at_the_last_edge_of_any_rhythm(moments, rhythms):
    steps, phases = np.array(rhythms, np.int64).T
    numbers, starts = find_slices(np.array(moments, np.int64), steps, phases)
    expected = [max((moment - phase) // step * step + phase for step, phase in rhythms) for moment in moments]
    assert starts[numbers].tolist() == expected
    assert sorted(starts.tolist()) == sorted(set(expected))


def test_slices_without_a_rhythm_are_refused():
    with pytest.raises(KernelError, match="steps above zero"):
        find_slices(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))
