"""What a reduction hands on from element to element is bounded."""

import pyarrow as pa
import pytest

from skerry.operators.derive import Derive
from tests.lang.sql.test_duckdb_examples import ask, bind, same

BATCH = pa.record_batch({"t": ["ab"], "n": pa.array([7], pa.int32())})


def answer(text):
    return Derive([("x", bind(text, BATCH))]).transition(BATCH).column(0)


@pytest.mark.parametrize(
    "text",
    [
        "list_reduce([t for x in range(40)], lambda a, x: a || a)",
        "reduce([[t] for x in range(40)], lambda a, x: list_concat(a, a))",
        "list_reduce([{'a': t} for x in range(40)], lambda a, x: {'a': a.a || a.a}).a",
        "len(array_reduce(range(40), lambda a, x: a || a, t))",
    ],
)
def test_reduction_that_doubles_ends_in_null(text):
    assert answer(text).to_pylist() == [None]


@pytest.mark.parametrize(
    "text",
    [
        "list_reduce([t, 'c', 'd'], lambda a, x: a || x)",
        "list_reduce([n, 2, 3], lambda a, x: a * x)",
        "list_reduce([n, 2, 3], lambda a, x, i: a * x + i, 100)",
        "list_reduce([[n], [2], [3]], lambda a, x: list_concat(a, x))",
        "list_reduce([{'a': n}, {'a': 2}], lambda a, x: {'a': a.a + x.a})",
        "list_reduce([DATE '2026-01-01', DATE '2025-01-01'], lambda a, x: least(a, x))",
        "list_reduce(range(1000), lambda a, x: a + x) + len(list_reduce(range(1000), lambda a, x: a || t, t))",
    ],
)
def test_other_reductions_mean_what_they_mean_in_duckdb(text):
    assert same(answer(text), ask(text, BATCH))


@pytest.mark.parametrize(
    "text",
    [
        "range(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01' + to_days(n), INTERVAL 1 DAY)",
        "generate_series(DATE '2026-01-31', DATE '2026-06-01', to_months(n - 6))",
        "len(generate_series(TIMESTAMPTZ '2026-01-02', TIMESTAMPTZ '2026-01-01', -to_hours(n)))",
        "range(0, 5, n - 7)",
        "range(n, 0, -2)",
    ],
)
def test_ranges_of_numbers_and_of_times_mean_what_they_mean_in_duckdb(text):
    assert same(answer(text), ask(text, BATCH))


def test_range_of_too_many_times_is_null():
    text = "range(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-01' + to_days(n), INTERVAL 1 MILLISECOND)"
    assert answer(text).to_pylist() == [None]
