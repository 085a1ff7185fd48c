import math

import numpy as np
import pytest
from hypothesis import given

from skerry.errors import KernelError
from skerry.kernels.folds.extremes import greatest, least
from tests import oracles
from tests.kernels.columns import any_integer, columns, same

integers = columns(any_integer, np.int64)


def check(kernel, oracle, column) -> None:
    found, any_ = kernel(column.values, column.valid, column.numbers, column.count)
    for number in range(column.count):
        expected = oracle(column.of_group(number))
        assert any_[number] == (expected is not None)
        assert expected is None or same(found[number], expected)


@given(columns())
def test_least_double_agrees_with_sorting(column):
    check(least, oracles.least, column)


@given(columns())
def test_greatest_double_agrees_with_sorting(column):
    check(greatest, oracles.greatest, column)


@given(integers)
def test_least_integer_agrees_with_sorting(column):
    check(least, oracles.least, column)


@given(integers)
def test_greatest_integer_agrees_with_sorting(column):
    check(greatest, oracles.greatest, column)


@pytest.mark.parametrize("values", [(math.nan, 1.0), (1.0, math.nan), (math.inf, math.nan)])
def test_nan_is_greater_than_every_number(values):
    column = np.array(values), np.ones(2, bool), np.zeros(2, np.int64), 1
    assert math.isnan(greatest(*column)[0][0])
    assert not math.isnan(least(*column)[0][0])


def test_least_of_nothing_but_nan_is_nan():
    assert math.isnan(least(np.array([math.nan]), np.ones(1, bool), np.zeros(1, np.int64), 1)[0][0])


@pytest.mark.parametrize("kernel", [least, greatest])
def test_columns_of_different_length_are_refused(kernel):
    with pytest.raises(KernelError, match="differ in length: 2 1 1"):
        kernel(np.zeros(2), np.ones(1, bool), np.zeros(1, np.int64), 1)
