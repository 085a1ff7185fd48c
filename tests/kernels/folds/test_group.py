import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.folds.group import group
from tests import oracles
from tests.kernels.columns import any_integer


def check(codes: list[int]) -> None:
    found = group(np.array(codes, np.int64))
    assert (found.numbers.tolist(), found.first.tolist()) == oracles.group(codes)


@given(st.lists(st.integers(-3, 3)))
def test_codes_close_together_are_numbered_as_by_a_dictionary(codes):
    check(codes)


@given(st.lists(any_integer))
def test_codes_far_apart_are_numbered_as_by_a_dictionary(codes):
    check(codes)


@given(st.lists(st.integers(-2, 2).map(lambda step: step * 2**40), max_size=60))
def test_codes_that_collide_are_kept_apart(codes):
    check(codes)


def test_many_codes_fill_the_table():
    check([code * 2**32 for code in range(3000)] * 2)


def test_no_rows_are_no_groups():
    assert group(np.empty(0, np.int64)).count == 0


def test_least_and_greatest_integers_are_codes_too():
    check([-(2**63), 2**63 - 1, -(2**63)])


def test_codes_in_two_dimensions_are_refused():
    with pytest.raises(KernelError, match="one dimension, got 2"):
        group(np.zeros((2, 2), np.int64))
