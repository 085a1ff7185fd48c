import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.rules.checked_arithmetic import SIGNS, exact

edges = st.sampled_from(
    [-(2**63), -(2**63) + 1, -(2**32), -3037000500, -1, 0, 1, 3037000499, 3037000500, 2**62, 2**63 - 1]
)
numbers = edges | st.integers(-(2**63), 2**63 - 1)
TWINS = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}


@given(st.sampled_from(SIGNS), st.lists(st.tuples(numbers, numbers), min_size=1))
def test_sums_and_products_are_exact_or_said_to_be_wrong(sign, pairs):
    left, right = np.array(pairs, np.int64).T
    results, wrong = exact(sign, left.copy(), right.copy())
    expected = [TWINS[sign](*pair) for pair in pairs]
    fits = [-(2**63) <= value < 2**63 for value in expected]
    assert (wrong is None) == all(fits)
    assert [not fit for fit in fits] == ([False] * len(fits) if wrong is None else wrong.tolist())
    assert [result for result, fit in zip(results.tolist(), fits, strict=True) if fit] == [
        value for value, fit in zip(expected, fits, strict=True) if fit
    ]


def test_columns_of_two_lengths_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        exact("+", np.zeros(1, np.int64), np.zeros(2, np.int64))
