import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skerry.kernels._jit import kernel
from skerry.kernels.index.simd_compare import WIDTH, strictly_within, within

cells = st.integers(0, 5) | st.integers(2**16 - 3, 2**16 - 1)
ends = arrays(np.uint16, WIDTH, elements=cells)


@kernel
def both(lows, highs, numbers):
    return within(lows, highs, numbers[0]), strictly_within(lows, highs, numbers[0])


@given(ends, ends, cells)
def test_bits_say_which_intervals_a_number_is_in(lows, highs, number):
    with_ends, without = both(lows, highs, np.array([number], np.uint16))
    intervals = list(zip(lows.tolist(), highs.tolist(), strict=True))
    assert int(with_ends) == sum(1 << bit for bit, (low, high) in enumerate(intervals) if low <= number <= high)
    assert int(without) == sum(1 << bit for bit, (low, high) in enumerate(intervals) if low < number < high)
