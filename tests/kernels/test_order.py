import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.order import in_order


def order_of(pairs):
    """As if already in order, where nothing is to be done."""
    times, orders = (np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1))
    order = in_order(times, orders)
    return list(range(len(pairs))) if order is None else order.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_order_agrees_with_sorting(pairs):
    assert order_of(pairs) == sorted(range(len(pairs)), key=pairs.__getitem__)


def test_many_tuples_of_one_time_are_put_in_order():
    pairs = [(place // 100, -place % 7) for place in range(200)]
    assert order_of(pairs) == sorted(range(len(pairs)), key=pairs.__getitem__)


def test_tuples_in_order_stay_where_they_are():
    assert in_order(np.array([1, 1, 2]), np.array([3, 4, 0])) is None


def test_order_of_columns_of_different_length_is_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        in_order(np.zeros(1, np.int64), np.zeros(2, np.int64))
