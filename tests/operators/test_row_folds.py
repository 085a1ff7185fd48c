"""Aggregates that keep rows or sketches, by the laws of operators; sketches also against what they stand for."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import LimitError
from skerry.kernels.folds.group import Groups
from skerry.model.session_window import SessionWindow
from skerry.model.time import seconds
from skerry.operators import row_accumulators
from skerry.operators.folds import accumulators, finish
from skerry.operators.partial_aggregate import fold_groups
from skerry.operators.session_aggregate import PartialSessions, SessionAggregate
from skerry.operators.sketches import KEPT_HASHES, LeastHashes, RoundedValues, estimate_distinct
from skerry.plan.fold import Fold, Method, Ordering
from skerry.testing import laws
from tests.operators.readings import SCHEMA, WINDOWS, BothHalves, steps
from tests.operators.two_halves import TwoHalves

UP, DOWN = Ordering(), Ordering(descending=True)
TIME = (("ts", SCHEMA.field("ts").type),)


def rows(function, argument, name, **more):
    return Fold(function, argument, SCHEMA.field(argument).type, name, **more)


FOLDS = [
    rows("first", "speed", "a", method=Method.CHOSEN, others=TIME, order=(UP, UP), keeps_null=True),
    rows("last", "sensor", "b", method=Method.CHOSEN, others=TIME, order=(DOWN, DOWN), where="wet"),
    rows(
        "arg_max",
        "flow",
        "c",
        method=Method.CHOSEN,
        others=(("height", pa.float64()), *TIME),
        order=(Ordering(descending=True, nulls_first=True), UP, UP),
    ),
    rows("median", "speed", "d", method=Method.COLLECTED, text="median(c0)", answer=pa.float64()),
    rows(
        "list",
        "sensor",
        "e",
        method=Method.COLLECTED,
        others=TIME,
        text="list(c0 ORDER BY c1, c0)",
        answer=pa.list_(pa.string()),
        keeps_null=True,
    ),
    rows("sum", "odometer", "f", method=Method.DISTINCT),
    rows("approx_count_distinct", "sensor", "g", method=Method.SKETCHED),
    rows("approx_quantile", "flow", "h", method=Method.SKETCHED, settings=(0.1, 0.9), answer=pa.list_(pa.int32())),
    rows("covar_pop", "speed", "i", others=(("speed", pa.float64()),)),
    rows("var_samp", "grade", "j"),
]


def over_windows():
    return BothHalves(WINDOWS[1], ("segment",), FOLDS)


def over_sessions():
    window, keys = SessionWindow(seconds(3)), [SCHEMA.field("segment")]
    return TwoHalves(PartialSessions(window, "ts", keys, FOLDS), SessionAggregate(window, keys, FOLDS))


@pytest.mark.parametrize("make", [over_windows, over_sessions])
@settings(max_examples=8)
@given(steps=steps())
def test_all_laws_are_kept(make, steps):
    laws.check_laws(make, steps, time="ts")
    laws.other_buckets_change_nothing(make, steps, keys=("segment",))


def sketch(accumulator, values, parts):
    """A sketch of one group, merged from parts."""
    kept = []
    for part in np.array_split(values, parts):
        batch = pa.record_batch({"x": part})
        groups = Groups(np.zeros(part.size, np.int64), np.zeros(1, np.int64))
        kept += fold_groups([accumulator], batch, groups)
    merged = pa.concat_arrays(kept)
    return accumulator.merge(merged, Groups(np.zeros(len(merged), np.int64), np.zeros(1, np.int64)))


@pytest.mark.parametrize("count", [0, 1, 17, KEPT_HASHES - 1])
def test_few_different_values_are_counted_exactly(count):
    values = np.repeat(np.arange(count), 3)
    assert estimate_distinct(sketch(LeastHashes("x", pa.int64()), values, 4)).to_pylist() == [count]


@pytest.mark.parametrize("count", [5_000, 100_000])
def test_many_different_values_are_counted_within_the_stated_error_in_any_parts(count):
    values = np.random.default_rng(count).permutation(np.arange(count) * 7919)
    found = estimate_distinct(sketch(LeastHashes("x", pa.int64()), values, 3))
    assert found == estimate_distinct(sketch(LeastHashes("x", pa.int64()), values[::-1], 8))
    assert found[0].as_py() == pytest.approx(count, rel=5 * 0.016)


@given(
    values=st.lists(st.floats(-1e6, 1e6) | st.integers(-2000, 2000).map(float), min_size=1, max_size=40),
    fraction=st.sampled_from([0.0, 0.1, 0.5, 0.99, 1.0]),
    parts=st.integers(1, 4),
)
def test_quantiles_of_a_sketch_are_those_of_values_rounded_to_eleven_bits(values, fraction, parts):
    fold = Fold("approx_quantile", "x", pa.float64(), "q", Method.SKETCHED, settings=(fraction,), answer=pa.float64())
    (accumulator,) = accumulators(fold)
    found = finish(fold, {accumulator.name: sketch(RoundedValues("x", pa.float64()), np.array(values), parts)})
    exact = np.quantile(np.array(values), fraction)
    error = max(abs(each) for each in values) / 2048
    assert found[0].as_py() == pytest.approx(exact, abs=error + 1e-300)
    if all(each == int(each) and abs(each) <= 2000 for each in values):
        assert found[0].as_py() == pytest.approx(exact, rel=1e-12)


def test_group_with_too_many_values_to_keep_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(row_accumulators, "MOST_VALUES", 3)
    with pytest.raises(LimitError, match=r"more than 3 values .* or APPROX_QUANTILE"):
        sketch(row_accumulators.Collected("x", pa.int64()), np.arange(9), 2)
