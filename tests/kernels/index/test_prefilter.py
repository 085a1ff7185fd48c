import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.kernels.index.double_codes import encode_doubles
from skerry.kernels.index.grid import GREATEST, LEAST
from skerry.kernels.index.prefilter import build_prefilter
from skerry.rivals.query_index.brute_force import brute_force
from tests.index.boxes import Case, cases, inside


def selective(boxes, least, greatest):
    """One of a hundred segments and a small interval of speed; readings of all segments and speeds."""
    random = np.random.default_rng(boxes)
    speeds = random.uniform(least, greatest, boxes)
    lows = np.stack([random.integers(0, 100, boxes), encode_doubles(speeds)])
    highs = np.stack([lows[0], encode_doubles(speeds + (greatest - least) * 1e-5)])
    readings = np.stack([random.integers(0, 100, 5_000), encode_doubles(random.uniform(least, greatest, 5_000))])
    readings[:, :30] = lows[:, :30]
    return Case(lows, highs, readings)


def measure_passing(case):
    """The share of readings that pass; those in a box must."""
    kept = build_prefilter(case.lows, case.highs).select(case.points)
    assert set(brute_force(*case)[0].tolist()) <= set(kept.tolist())
    return kept.size / case.points.shape[1]


@settings(max_examples=60)
@given(case=cases(min_boxes=1), new=st.integers(0, 300), shift=st.sampled_from([0, 52]))
def test_all_points_in_a_box_pass(case, new, shift):
    case = Case(*(np.where((some > LEAST) & (some < GREATEST), some << shift, some) for some in case))
    prefilter = build_prefilter(case.lows[:, new:], case.highs[:, new:])
    if prefilter:
        prefilter.add(case.lows[:, :new], case.highs[:, :new])
        kept = prefilter.select(case.points).tolist()
        assert kept == sorted(kept)
        assert {row for row, _ in inside(case)} <= set(kept)


@pytest.mark.parametrize("boxes", [30, 1_000, 10_000])
@pytest.mark.parametrize("ends", [(0, 100), (-20, 40), (-1e-3, 1e-3)], ids=str)
def test_few_readings_pass_where_subscriptions_are_selective(boxes, ends):
    assert measure_passing(selective(boxes, *ends)) < 0.06


def test_ends_far_out_do_not_spoil_the_scale():
    case = selective(2_000, 0, 100)
    case.highs[1, :20] = encode_doubles(np.array([1e300, np.inf, np.nan, 1e9])).repeat(5)
    case.lows[0, 100:120], case.highs[0, 120:140] = -(2**31), 2**31 - 1
    assert measure_passing(case) < 0.2


def test_boxes_that_most_points_are_in_have_no_prefilter():
    lows = np.random.default_rng(1).integers(0, 50, (2, 1_000))
    assert build_prefilter(lows, lows + 50) is None


def test_no_boxes_have_no_prefilter():
    assert build_prefilter(np.empty((2, 0), np.int64), np.empty((2, 0), np.int64)) is None
