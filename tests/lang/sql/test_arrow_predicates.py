from datetime import datetime, timedelta

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import example, given
from hypothesis import strategies as st

from skerry.lang.sql.arrow_predicates import simple
from skerry.lang.sql.scalar import Scope, scalar
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Expression
from skerry.model.predicate import SIGNS
from skerry.operators.derive import Derive
from tests.operators.readings import SCHEMA, batch_of, readings

WHOLE = st.sampled_from(["-1", "0", "1", "-2147483648", "2147483647", "2147483648", "1 + 1", "9223372036854775807"])
DOUBLE = WHOLE | st.sampled_from(["0.5", "-0.0", "1.5", "1e300", "0.1", "-499.875", "CAST('-inf' AS DOUBLE)", "5e-324"])
MOMENT = st.integers(-20_000_000, 20_000_000).map(
    lambda micros: f"TIMESTAMP '{datetime(1970, 1, 1) + timedelta(microseconds=micros)}'"
)
CONSTANTS = {"segment": WHOLE, "flow": WHOLE, "odometer": WHOLE, "speed": DOUBLE, "height": DOUBLE, "ts": MOMENT}


@st.composite
def leaves(draw):
    """A comparison, a list, a range, a missing value, a column that holds."""
    name = draw(st.sampled_from(sorted(CONSTANTS)))
    low, high, sign = draw(CONSTANTS[name]), draw(CONSTANTS[name]), draw(st.sampled_from(sorted(SIGNS)))
    shapes = [
        *(f"{name} {sign} {low}", f"{low} {sign} {name}", f"{name} BETWEEN {low} AND {high}"),
        *(f"{name} NOT IN ({low}, {high})", f"{name} IS NULL", f"{name} IS NOT NULL", "wet"),
    ]
    return draw(st.sampled_from(shapes))


def joined(parts):
    return st.builds("({} {} {})".format, parts, st.sampled_from(["AND", "OR"]), parts) | parts.map("(NOT {})".format)


PREDICATES = st.recursive(leaves(), joined, max_leaves=6)


def bound(text):
    return scalar(sqlglot.parse_one(text, read="risingwave"), Scope("road", SCHEMA))


def by_duckdb(expression, batch):
    """What DuckDB says of each row; the batch must have rows."""
    open_duckdb().register("batch", pa.Table.from_batches([batch]))
    try:
        return [row[0] for row in open_duckdb().sql(f"SELECT {expression.sql} FROM batch").fetchall()]
    finally:
        open_duckdb().unregister("batch")


UNUSUAL = batch_of(
    [
        {"ts": 0, "speed": number, "height": number, "odometer": 2**63 - 1, "segment": -(2**31), "wet": None}
        for number in [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 0.1, 1.5, 5e-324, None]
    ]
)


@example("(speed > 1e300 OR height >= 0.5)", UNUSUAL)
@example("(NOT speed = 0 AND NOT height < 0.0)", UNUSUAL)
@example("(odometer < 9223372036854775807 OR segment <= -2147483648)", UNUSUAL)
@given(PREDICATES, readings(unusual=True))
def test_arrow_decides_as_duckdb_does(text, batch):
    expression = bound(text)
    if expression.predicate is not None:
        assert expression.predicate.marks(batch).to_pylist() == by_duckdb(expression, batch)


@given(PREDICATES, readings(unusual=True))
def test_rows_are_kept_as_duckdb_keeps_them(text, batch):
    found = bound(text)
    columns = [("speed", Expression.of("speed", pa.float64())), ("twice", Expression('"segment" * 2', pa.int32()))]
    expected = Derive(columns, Expression(found.sql, found.type)).transition(batch)
    assert repr(Derive(columns, found).transition(batch).to_pydict()) == repr(expected.to_pydict())


@pytest.mark.parametrize(
    "text",
    [
        *("speed < 5", "5 >= speed", "speed <> -0.5", "(speed) = (1 + 1)", "segment IN (1, 2)", "NOT wet"),
        *("ts BETWEEN TIMESTAMP '2026-01-01' AND TIMESTAMP '2026-01-02'", "wet AND speed IS NOT NULL OR flow > 3"),
        *("odometer = 3000000000", "speed < CAST(5 AS REAL)", "speed IS NULL"),
    ],
)
def test_columns_beside_constants_are_simple(text):
    assert bound(text).predicate is not None


@pytest.mark.parametrize(
    "text",
    [
        *("speed < flow", "speed * 2 < 5", "speed < NULL", "segment IN (1, NULL)", "flow < 2147483648", "flow < 0.5"),
        *("grade < 0.5", "sensor = 'a'", "ts > DATE '2026-01-01'", "wet = TRUE", "wet IS TRUE", "speed < '5'"),
        *("speed < CAST('nan' AS DOUBLE)", "segment IS NOT DISTINCT FROM 1", "speed BETWEEN SYMMETRIC 9 AND 1"),
        *("wet AND abs(speed) < 5", "speed IN (1, flow)", "speed < CAST('x' AS DOUBLE)", "TRUE"),
    ],
)
def test_everything_else_is_left_to_duckdb(text):
    assert bound(text).predicate is None


def test_long_predicate_is_left_to_duckdb():
    assert bound(" OR ".join(f"segment = {number}" for number in range(500))).predicate is None


def test_value_that_is_no_condition_is_left_to_duckdb():
    assert simple(sqlglot.parse_one('"speed"'), SCHEMA) is None


def test_constants_are_those_of_duckdb():
    text = "0.30000000000000000000000000004"
    [(expected,)] = open_duckdb().sql(f"SELECT CAST({text} AS DOUBLE)").fetchall()
    assert bound(f"speed < {text}").predicate.constant.as_py() == expected
