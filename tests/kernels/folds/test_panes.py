import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.folds.panes import pane_numbers

moments = st.lists(st.integers(-(2**61), 2**61) | st.integers(-100, 100), max_size=30)


@given(moments=moments, pane_us=st.integers(1, 2**40))
def test_panes_agree_with_floor_division(moments, pane_us):
    assert pane_numbers(np.array(moments, np.int64), pane_us).tolist() == [moment // pane_us for moment in moments]
