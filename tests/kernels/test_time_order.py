import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.time_order import order_by_time, order_by_time_and_sensor


def order_of(pairs):
    """As if already in order, where nothing is to be done."""
    times, orders = (np.array([pair[index] for pair in pairs], np.int64) for index in (0, 1))
    order = order_by_time_and_sensor(times, orders)
    return list(range(len(pairs))) if order is None else order.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12))
def test_order_agrees_with_sorting(pairs):
    assert order_of(pairs) == sorted(range(len(pairs)), key=pairs.__getitem__)


def test_many_tuples_of_one_time_are_put_in_order():
    pairs = [(index // 100, -index % 7) for index in range(200)]
    assert order_of(pairs) == sorted(range(len(pairs)), key=pairs.__getitem__)


def test_tuples_in_order_stay_where_they_are():
    assert order_by_time_and_sensor(np.array([1, 1, 2]), np.array([3, 4, 0])) is None


def test_order_of_columns_of_different_length_is_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        order_by_time_and_sensor(np.zeros(1, np.int64), np.zeros(2, np.int64))


runs = st.lists(st.lists(st.integers(0, 5)).map(sorted), max_size=6)


@given(runs, st.sampled_from([1, 2**20, 2**45, 2**60]))
def test_runs_are_merged_as_sorting_would(runs, unit):
    times = [unit * (time - 2) for run in runs for time in run]
    sizes = np.array([len(run) for run in runs], np.int64)
    assert order_by_time(np.array(times, np.int64), sizes).tolist() == sorted(range(len(times)), key=times.__getitem__)


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_runs_that_are_not_in_order_are_sorted(one, other):
    times, sizes = np.array(one + other, np.int64), np.array([len(one), len(other)])
    assert order_by_time(times, sizes).tolist() == sorted(range(times.size), key=times.__getitem__)


def test_more_tuples_than_are_merged_are_sorted():
    times = np.arange(2**20 + 2) // 2 % 2**19
    assert (order_by_time(times, np.array([2**20, 2])) == np.argsort(times, kind="stable")).all()


@pytest.mark.parametrize("times", [[-(2**63), 2**63 - 1], [2**63 - 1, -(2**63)]])
def test_times_may_lie_as_far_apart_as_they_can(times):
    assert order_by_time(np.array(times), np.array([1, 1])).tolist() == np.argsort(times).tolist()


def test_runs_that_do_not_cover_the_times_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        order_by_time(np.zeros(1, np.int64), np.array([2]))
