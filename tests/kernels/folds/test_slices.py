import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.kernels.folds.group import slice_numbers

moments = st.lists(st.integers(-(2**61), 2**61) | st.integers(-100, 100), max_size=30)


@given(moments=moments, slice_us=st.integers(1, 2**40))
def test_slices_agree_with_floor_division(moments, slice_us):
    assert slice_numbers(np.array(moments, np.int64), slice_us).tolist() == [moment // slice_us for moment in moments]
