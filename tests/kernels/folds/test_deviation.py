import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import KernelError
from skerry.kernels.folds.deviation import deviations, squares
from skerry.kernels.folds.exact_sums import add_values
from tests import oracles
from tests.oracles.sums import exact

offsets = st.sampled_from([0.0, 1.0, -1e3, 1e9, -1.7e15, 1e18, 1e100, -1e-100])
spreads = st.sampled_from([1e-9, 1e-3, 1.0, 1e3, 1e9])


def deviation(*values: float, sample: bool = True) -> float:
    taken, one = np.array(values, np.float64), np.zeros(len(values), np.int64)
    main, rest = squares(taken)
    sums = add_values(taken, np.ones(taken.size, bool), one, 1)
    parts = np.concatenate([main, rest])
    square_sums = add_values(parts, np.ones(parts.size, bool), np.tile(one, 2), 1)
    return float(deviations(sums, square_sums, np.array([taken.size]), sample=sample)[0])


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), offsets, spreads, st.booleans())
def test_deviations_agree_with_fractions_far_from_zero(shape, offset, spread, sample):
    values = [offset + part * spread for part in shape]
    expected = oracles.deviation(values, lost=int(sample))
    assert deviation(*values, sample=sample) == pytest.approx(expected, rel=1e-15, abs=1e-150)


@given(st.floats(1e-130, 1e139) | st.just(0.0), st.sampled_from([1, -1]), st.integers(2, 50))
def test_sensor_that_is_stuck_does_not_deviate(value, sign, count):
    assert deviation(*[sign * value] * count) == 0.0


@given(st.floats(1e-130, 1e139))
def test_squares_are_exact(value):
    main, rest = squares(np.array([value, -value]))
    assert exact([main[0]]) + exact([rest[0]]) == exact([value]) ** 2
    assert (main[0], rest[0]) == (main[1], rest[1])


def test_deviation_of_one_value_is_defined_for_a_population_alone():
    assert math.isnan(deviation(3.0, sample=True))
    assert deviation(3.0, sample=False) == 0.0


def test_deviation_of_nothing_is_not_defined():
    assert math.isnan(deviation(sample=False))


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf, 1e200])
def test_deviation_is_nan_if_a_square_is_not_finite(strange):
    assert math.isnan(deviation(1.0, strange))


def test_sums_of_different_length_are_refused():
    one = add_values(np.ones(1), np.ones(1, bool), np.zeros(1, np.int64), 1)
    with pytest.raises(KernelError, match="differ in length: 1 1 1 2"):
        deviations(one, one, np.array([1, 1]), sample=True)
