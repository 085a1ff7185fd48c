"""Window aggregates against DuckDB, which sees the whole input at once."""

import math
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME
from tests import oracles
from tests.operators.readings import ALL_FOLDS, KEYS, WINDOWS, BothHalves, batch_of, fold, folds_of, readings

# DuckDB refuses the deviation of an infinite value.
FOLDS = [each for each in ALL_FOLDS if each.argument != "height" or "stddev" not in each.function]


def answers(operator, readings, cut):
    for part in (readings.slice(0, cut), readings.slice(cut)):
        operator.transition(part)
    found = operator.advance(END_OF_TIME)
    columns = [found.column(0).cast(pa.int64()), *found.columns[2:]]
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def by_key(rows, keys):
    """Rows by window and keys, spelled so that NaN finds NaN and -0.0 finds 0.0."""
    spelled = {
        repr([value + 0.0 if isinstance(value, float) else value for value in row[: 1 + keys]]): row for row in rows
    }
    assert len(spelled) == len(rows), "a group is there twice"
    return spelled


def close(left, right):
    """Equal, but for the digits that DuckDB loses by rounding at every step."""
    if isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9) or (left != left and right != right)
    return left == right


def check(readings, window, keys, folds, cut=3):
    found = by_key(answers(BothHalves(window, keys, folds), readings, cut), len(keys))
    expected = by_key(oracles.aggregate_windows(readings, window, "ts", keys, folds), len(keys))
    assert found.keys() == expected.keys()
    for key, row in expected.items():
        names = ["start", *keys, *(each.name for each in folds)]
        wrong = [each for each in zip(names, found[key], row, strict=True) if not close(*each[1:])]
        assert not wrong, f"in {key}: {wrong}"


@pytest.mark.parametrize("keys", KEYS)
@settings(max_examples=15)
@given(readings=readings(), window=st.sampled_from(WINDOWS), cut=st.integers(0, 20))
def test_all_aggregates_over_any_keys_agree_with_duckdb(keys, readings, window, cut):
    check(readings, window, keys, FOLDS, cut)


@given(readings=readings(unusual=True), window=st.sampled_from(WINDOWS))
def test_infinities_and_nan_are_aggregated_as_by_duckdb(readings, window):
    folds = [each for each in folds_of("speed") if each.function in ("count", "count_distinct", "max", "min")]
    check(readings, window, ("segment",), folds)


@pytest.mark.parametrize("window", WINDOWS)
def test_groups_of_one_reading_agree_with_duckdb(window):
    batch = batch_of(
        [{"ts": number * 1_000_000, "segment": number, "speed": 1.5, "flow": 3} for number in range(-9, 9)]
    )
    check(batch, window, ("segment",), FOLDS)


@pytest.mark.parametrize("window", WINDOWS)
def test_groups_of_nothing_but_null_agree_with_duckdb(window):
    check(batch_of([{"ts": number * 500_000} for number in range(-9, 9)]), window, ("segment",), FOLDS)


@pytest.mark.parametrize("argument", ["flow", "odometer", "grade", "speed"])
def test_types_of_sums_hold_what_duckdb_gives(argument):
    batch = batch_of([{"ts": 0, argument: 100}, {"ts": 0, argument: -7}])
    check(batch, WINDOWS[0], (), [fold("sum", argument), fold("avg", argument)])
