import pyarrow as pa

from skerry.index.residual_predicates import Residuals
from skerry.model.duckdb_session import open_duckdb

BATCH = pa.record_batch({"i": [1, 2, None], "s": ["1", "x", "3"]})


def decide(*expressions):
    residuals = Residuals(open_duckdb)
    first = [found.tolist() for found in residuals.decide(expressions, BATCH)]
    assert [found.tolist() for found in residuals.decide(expressions, BATCH)] == first
    return first


def test_null_is_not_true():
    assert decide("i > 1", "NOT i > 1") == [[False, True, False], [True, False, False]]


def test_expression_that_fails_on_a_row_is_true_elsewhere():
    assert decide("CAST(s AS INT) > 0", "i = 1") == [[True, False, True], [True, False, False]]


def test_error_that_try_lets_pass_is_found_by_halving():
    assert decide("s LIKE s ESCAPE s || 'no'", "i = 1")[1] == [True, False, False]


def test_many_expressions_are_asked_in_parts():
    found = decide(*(f"i = {number}" for number in range(150)))
    assert [row for row in found if any(row)] == [[True, False, False], [False, True, False]]
