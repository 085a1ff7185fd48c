from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME, Micros, seconds, show
from skerry.model.window import Window
from skerry.testing import laws
from tests.operators.readings import ALL_FOLDS, KEYS, WINDOWS, BothHalves, batch_of, fold, steps

windows = st.sampled_from(WINDOWS)
few = settings(max_examples=8)


def run(operator, *batches):
    for batch in batches:
        assert operator.transition(batch).num_rows == 0
    return operator.advance(END_OF_TIME)


def answer(function, argument, *values):
    """One aggregate over one window of readings with these values."""
    batch = batch_of([{"ts": 0, argument: value} for value in values])
    return run(BothHalves(WINDOWS[0], (), [fold(function, argument)]), batch).column(2).to_pylist()


@pytest.mark.parametrize("keys", KEYS)
@few
@given(steps=steps(), window=windows)
def test_snapshot_mid_stream_changes_nothing(keys, steps, window):
    laws.snapshot_mid_stream_changes_nothing(lambda: BothHalves(window, keys, ALL_FOLDS), steps)


@pytest.mark.parametrize("keys", KEYS)
@few
@given(steps=steps(), window=windows)
def test_incremental_changes_equal_snapshot(keys, steps, window):
    laws.incremental_changes_equal_snapshot(lambda: BothHalves(window, keys, ALL_FOLDS), steps)


@pytest.mark.parametrize("keys", KEYS)
@few
@given(steps=steps(), window=windows)
def test_one_batch_equals_many(keys, steps, window):
    laws.one_batch_equals_many(lambda: BothHalves(window, keys, ALL_FOLDS), steps)


@pytest.mark.parametrize("keys", KEYS)
@few
@given(steps=steps(), window=windows, seed=st.integers(0, 99))
def test_order_within_watermark_does_not_matter(keys, steps, window, seed):
    make = lambda: BothHalves(window, keys, ALL_FOLDS)  # noqa: E731
    laws.order_within_watermark_does_not_matter(make, steps, time="ts", seed=seed)


@pytest.mark.parametrize("keys", KEYS)
@few
@given(steps=steps(), window=windows)
def test_state_stays_bounded(keys, steps, window):
    laws.state_stays_bounded(lambda: BothHalves(window, keys, ALL_FOLDS), steps)


@pytest.mark.parametrize("keys", KEYS[1:])
@few
@given(steps=steps(), window=windows)
def test_other_buckets_change_nothing(keys, steps, window):
    laws.other_buckets_change_nothing(lambda: BothHalves(window, keys, ALL_FOLDS), steps, keys=keys)


@given(steps=steps(), window=windows)
def test_rows_come_out_in_order_of_window_and_keys(steps, window):
    operator = BothHalves(window, ("segment",), [fold("count")])
    starts = run(operator, *(batch for batch, _ in steps)).column("window_start").to_pylist()
    assert starts == sorted(starts)


def test_window_closes_when_the_watermark_reaches_its_end():
    operator = BothHalves(WINDOWS[0], (), [fold("count")])
    operator.transition(batch_of([{"ts": 0}, {"ts": seconds(4)}]))
    assert operator.advance(Micros(seconds(4) - 1)).num_rows == 0
    assert operator.advance(seconds(4)).column("window_end").cast(pa.int64()).to_pylist() == [seconds(4)]


def test_windows_are_closed_on_the_left():
    batch = batch_of([{"ts": seconds(4) - 1}, {"ts": seconds(4)}])
    assert run(BothHalves(WINDOWS[0], (), [fold("count")]), batch).column("count_None").to_pylist() == [1, 1]


def test_windows_before_the_epoch_are_aligned_to_it():
    found = run(BothHalves(WINDOWS[0], (), [fold("count")]), batch_of([{"ts": -1}, {"ts": seconds(-4)}]))
    assert found.column("window_start").cast(pa.int64()).to_pylist() == [seconds(-4)]


def test_hopping_window_counts_a_reading_in_every_window_that_holds_it():
    found = run(BothHalves(Window(seconds(6), seconds(4)), (), [fold("count")]), batch_of([{"ts": seconds(5)}]))
    assert found.column("window_start").cast(pa.int64()).to_pylist() == [0, seconds(4)]


def test_watermark_that_falls_back_closes_nothing():
    operator = BothHalves(WINDOWS[0], (), [fold("count")])
    operator.advance(seconds(8))
    operator.transition(batch_of([{"ts": seconds(9)}]))
    assert operator.advance(seconds(2)).num_rows == 0


def test_nothing_is_given_twice():
    operator = BothHalves(WINDOWS[0], (), [fold("count")])
    assert run(operator, batch_of([{"ts": 0}])).num_rows == 1
    assert operator.advance(END_OF_TIME).num_rows == 0


def test_changes_write_what_is_new_alone():
    operator = BothHalves(Window(seconds(60), seconds(60)), ("segment",), [fold("count")])
    operator.transition(batch_of([{"ts": 0, "segment": number} for number in range(500)]))
    operator.changes()
    operator.transition(batch_of([{"ts": 0, "segment": 1}]))
    assert sum(len(blob) for blob in operator.changes().put.values()) < 1000


def test_runs_stay_few_however_many_batches_come():
    operator = BothHalves(Window(seconds(60), seconds(60)), ("segment",), [fold("avg", "speed")])
    saved = {}
    for number in range(100):
        operator.transition(batch_of([{"ts": number, "segment": number % 3, "speed": -1.0}]))
        laws.apply_changes(operator.changes(), saved)
    assert len(saved) <= 10


def test_state_of_a_group_does_not_grow_with_its_readings():
    operator = BothHalves(Window(seconds(60), seconds(60)), (), [fold("avg", "speed")])
    sizes = []
    for number in range(200):
        operator.transition(batch_of([{"ts": number, "speed": -1.5}]))
        sizes.append(max(map(len, operator.snapshot().values())))
    assert max(sizes) == sizes[0]


def test_group_key_spells_zero_without_a_sign():
    found = run(BothHalves(WINDOWS[0], ("height",), [fold("count")]), batch_of([{"ts": 0, "height": -0.0}]))
    assert repr(found.column("height").to_pylist()) == "[0.0]"


def test_deviation_of_a_single_reading_is_null_for_a_sample():
    assert answer("stddev_samp", "speed", 1.0) == [None]
    assert answer("stddev_pop", "speed", 1.0) == [0.0]


@pytest.mark.parametrize("function", ["avg", "max", "min", "stddev_pop", "stddev_samp", "sum"])
@pytest.mark.parametrize("argument", ["speed", "flow", "odometer"])
def test_aggregate_of_nothing_but_null_is_null(function, argument):
    assert answer(function, argument, None, None) == [None]


@pytest.mark.parametrize("function", ["count", "count_distinct"])
def test_count_of_nothing_but_null_is_zero(function):
    assert answer(function, "speed", None, None) == [0]


def test_sum_of_bigint_does_not_overflow():
    assert answer("sum", "odometer", *[2**63 - 1] * 5) == [Decimal(5 * (2**63 - 1))]


def test_sum_of_int_does_not_overflow():
    assert answer("sum", "flow", *[2**31 - 1] * 5) == [5 * (2**31 - 1)]


def test_sum_of_doubles_is_exact():
    assert answer("sum", "speed", *[0.1] * 10) == [1.0]
    assert answer("avg", "speed", 1e300, 3.0, -1e300) == [1.0]


def test_deviation_of_bigint_is_that_of_the_nearest_doubles():
    assert answer("stddev_pop", "odometer", 2**60, 2**60 + 2**10) == [2.0**9]


def test_deviation_of_readings_far_from_zero_is_exact():
    assert answer("stddev_pop", "speed", 1e15, 1e15 + 2) == [1.0]


def test_least_zero_has_no_sign_whichever_came_first():
    assert [repr(answer("min", "speed", *zeros)) for zeros in ((0.0, -0.0), (-0.0, 0.0))] == ["[0.0]", "[0.0]"]


def test_moments_are_shown_in_utc():
    found = run(BothHalves(WINDOWS[0], (), [fold("max", "ts")]), batch_of([{"ts": seconds(1_700_000_000)}]))
    assert str(found.column("max_ts")[0].as_py()) == show(seconds(1_700_000_000))
