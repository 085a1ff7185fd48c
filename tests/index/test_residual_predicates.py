import numpy as np
import pyarrow as pa

from skerry.index.region import Residual
from skerry.index.residual_predicates import Residuals
from skerry.model.duckdb_session import open_duckdb

BATCH = pa.record_batch({"i": [1, 2, None], "s": ["1", "x", "3"]})
ROWS = np.arange(3, dtype=np.int32)


def residual(sql, *constants):
    return Residual(sql, ("i", "s"), constants)


def decide_all(residuals, numbers):
    rows, asked = np.tile(ROWS, len(numbers)), np.repeat(numbers, 3)
    return residuals.decide(BATCH, rows, asked).reshape(-1, 3).tolist()


def decide(*expressions):
    residuals = Residuals(open_duckdb)
    numbers = [residuals.add(residual(expression)) for expression in expressions]
    first = decide_all(residuals, numbers)
    assert decide_all(residuals, numbers) == first
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


def test_residuals_of_one_form_have_their_own_constants():
    residuals = Residuals(open_duckdb)
    numbers = [
        residuals.add(residual('i > "$0:BIGINT" OR s = "$1:VARCHAR"', bound, text))
        for bound, text in [(1, "x"), (0, "3")]
    ]
    assert decide_all(residuals, numbers) == [[False, True, False], [True, True, True]]


def test_form_that_fails_for_one_constant_holds_for_others():
    residuals = Residuals(open_duckdb)
    numbers = [residuals.add(residual('i // "$0:BIGINT" = 1', by)) for by in (0, 1, 2)]
    assert decide_all(residuals, numbers) == [[False] * 3, [True, False, False], [False, True, False]]


def test_equal_residuals_have_one_number_until_the_last_is_gone():
    residuals = Residuals(open_duckdb)
    first, second = residuals.add(residual("i > 1")), residuals.add(residual("i > 1"))
    assert first == second
    residuals.remove(first)
    assert decide_all(residuals, [first]) == [[False, True, False]]
    residuals.remove(first)
    assert residuals.add(residual("i = 1")) == first
    assert decide_all(residuals, [first]) == [[True, False, False]]
