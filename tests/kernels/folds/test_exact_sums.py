import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.folds.exact_sums import Totals, add_totals, add_values, as_doubles, as_fraction, halves
from tests import oracles
from tests.kernels.columns import Column, behind, columns, finite, same
from tests.oracles.sums import exact


def sum_column(column: Column) -> Totals:
    return add_values(column.values, column.valid, column.numbers, column.count)


def total_of(*values: float) -> Totals:
    return add_values(np.array(values), np.ones(len(values), bool), np.zeros(len(values), np.int64), 1)


def merge(*parts: Totals) -> Totals:
    whole = parts[0]
    for part in parts[1:]:
        whole = behind(whole, part)
    return add_totals(whole, np.tile(np.arange(parts[0].count), len(parts)), parts[0].count)


@given(columns())
def test_sums_agree_with_fractions(column):
    for number, found in enumerate(as_doubles(sum_column(column))):
        assert same(found, oracles.total(column.of_group(number)))


@given(columns(), st.integers(0, 12))
def test_sum_of_any_split_equals_the_whole(column, position):
    first, second = column.cut(position)
    parts = as_doubles(merge(sum_column(first), sum_column(second)))
    assert all(map(same, parts, as_doubles(sum_column(column))))


@given(columns(finite))
def test_halves_hold_106_bits(column):
    for number, (high, low) in enumerate(zip(*halves(sum_column(column)), strict=True)):
        whole = exact(column.of_group(number))
        assert math.isinf(high) or low == oracles.nearest(whole - exact([high]))


@given(columns(finite))
def test_fraction_of_a_total_is_not_rounded(column):
    totals = sum_column(column)
    for number in range(column.count):
        assert as_fraction(totals, number) == exact(column.of_group(number))


@given(columns(finite))
def test_merging_again_and_again_does_not_widen_totals(column):
    totals = merge(sum_column(column))
    for _ in range(3):
        again = merge(totals)
        assert again.words.size <= totals.words.size
        totals = again


def test_total_of_a_group_without_values_does_not_widen_others():
    empty = add_values(np.array([]), np.array([], bool), np.array([], np.int64), 1)
    assert merge(total_of(1.0), empty).words.size == total_of(1.0).words.size


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((), 0.0),
        ((-0.0,), 0.0),
        ((1e100, 1.0, -1e100), 1.0),
        ((0.1,) * 10, 1.0),
        ((5e-324, 5e-324), 1e-323),
        ((2.0**53, 1.0), 2.0**53),
        ((2.0**53, 1.0, 5e-324), 2.0**53 + 2),
        ((2.0**53, 3.0), 2.0**53 + 4),
        ((-(2.0**53), -1.0, -5e-324), -(2.0**53) - 2),
        ((1.7976931348623157e308,) * 2, math.inf),
        ((1.7976931348623157e308, 1e291), 1.7976931348623157e308),
        ((1.7976931348623157e308, 2.0**970), math.inf),
        ((1.7976931348623157e308, 1.7976931348623157e308, -1.7976931348623157e308), 1.7976931348623157e308),
        ((math.inf, 1.0), math.inf),
        ((-math.inf, 1.0), -math.inf),
        ((math.inf, -math.inf), math.nan),
        ((math.nan, 1.0), math.nan),
        ((math.nan, math.inf), math.nan),
    ],
)
def test_sum_is_rounded_once(values, expected):
    assert same(as_doubles(total_of(*values))[0], expected)


@given(st.integers(-900, 1000), st.integers(1, 150), st.sampled_from([1, -1]), st.sampled_from([1, -1]))
def test_tie_is_broken_by_the_least_part(power, below, sign, side):
    values = [sign * math.ldexp(1.0, power), sign * math.ldexp(1.0, power - 53)]
    values.append(side * math.ldexp(1.0, power - 53 - below))
    assert as_doubles(total_of(*values))[0] == oracles.total(values)


def test_infinities_of_both_signs_meet_in_a_merge():
    assert math.isnan(as_doubles(merge(total_of(math.inf), total_of(-math.inf)))[0])


@example([1e308] * 3, [-1e308] * 3)
@given(st.lists(finite, max_size=8), st.lists(finite, max_size=8))
def test_order_does_not_matter(left, right):
    assert same(as_doubles(total_of(*left, *right))[0], as_doubles(total_of(*right, *left))[0])


def test_many_values_need_no_carry_in_between():
    values = np.full(100_000, 0.1)
    total = add_values(values, np.ones(values.size, bool), np.zeros(values.size, np.int64), 1)
    assert as_doubles(total)[0] == oracles.nearest(exact([0.1]) * values.size)


def test_columns_of_different_length_are_refused():
    with pytest.raises(KernelError, match="differ in length: 2 1 1"):
        add_values(np.zeros(2), np.ones(1, bool), np.zeros(1, np.int64), 1)


def test_totals_and_groups_of_different_length_are_refused():
    with pytest.raises(KernelError, match="differ in length: 1 2"):
        add_totals(total_of(1.0), np.zeros(2, np.int64), 1)
