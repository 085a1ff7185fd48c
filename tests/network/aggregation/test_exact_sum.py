from fractions import Fraction
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.aggregation.exact_sum import add_exactly, round_sum

VALUES = st.lists(st.floats(-1e100, 1e100), max_size=20)


@given(VALUES, st.integers(0, 20))
def test_sum_is_exact_however_it_is_split(values, cut):
    halves = [reduce(add_exactly, [(value,) for value in half], ()) for half in (values[:cut], values[cut:])]
    found = add_exactly(*halves)
    assert sum(map(Fraction, found)) == sum(map(Fraction, values))
    assert round_sum(found) == float(sum(map(Fraction, values)))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(InputError, match="finite numbers"):
        add_exactly((), (value,))
