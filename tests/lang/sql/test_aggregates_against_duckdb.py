"""Every aggregate function over windows, against DuckDB, which sees all rows of a window at once and in order."""

import math
from decimal import Decimal
from functools import cache
from itertools import pairwise

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.model.time import END_OF_TIME, seconds
from skerry.model.window import Window
from tests.lang.sql.scripts import session
from tests.oracles.windows import window_starts

SOURCE = (
    "CREATE SOURCE s (ts TIMESTAMP, k INT, x DOUBLE, n INT, wet BOOLEAN, name VARCHAR, "
    "WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH (connector='file', path='s.csv')"
)
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us"),
        "k": pa.int32(),
        "x": pa.float64(),
        "n": pa.int32(),
        "wet": pa.bool_(),
        "name": pa.string(),
    }
)
WINDOWS = {
    "TUMBLE(s, ts, INTERVAL '4' SECOND)": Window(seconds(4), seconds(4)),
    "HOP(s, ts, INTERVAL '2' SECOND, INTERVAL '4' SECOND)": Window(seconds(4), seconds(2)),
}
SAME = [
    *("VARIANCE(x)", "VAR_POP(n)", "VAR_SAMP(x) FILTER (WHERE wet)", "STDDEV(n)", "SUM(DISTINCT n)", "AVG(DISTINCT x)"),
    *("VAR_POP(DISTINCT n)", "SUM(DISTINCT x) FILTER (WHERE n > 3)", "MIN(DISTINCT n)", "COUNT(DISTINCT name)"),
    *("CORR(x, n)", "COVAR_POP(x, n)", "COVAR_SAMP(x, n) FILTER (WHERE wet)", "REGR_SLOPE(x, n)", "REGR_R2(x, n)"),
    *("REGR_INTERCEPT(x, n)", "REGR_COUNT(x, n)", "REGR_AVGX(x, n)", "REGR_AVGY(x, n)", "REGR_SXX(x, n)"),
    *("REGR_SXY(x, n)", "REGR_SYY(x, n)", "BOOL_AND(wet)", "BOOL_OR(x > 2) FILTER (WHERE n < 5)"),
    *("MEDIAN(x)", "MEDIAN(n)", "MEDIAN(DISTINCT n)", "MEDIAN(ts)", "MEDIAN(name)", "QUANTILE_CONT(n, 0.3)"),
    *("QUANTILE_CONT(x, [0.25, 0.5, 1])", "QUANTILE_DISC(name, 0.4)", "QUANTILE_DISC(x, 0.9) FILTER (WHERE wet)"),
    *("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY x DESC)", "PERCENTILE_DISC(0.6) WITHIN GROUP (ORDER BY n)"),
    *("MAD(n)", "KURTOSIS(n)", "SKEWNESS(n)", "ENTROPY(n)", "PRODUCT(n)", "BIT_OR(n)", "HISTOGRAM(n)", "MAX(n, 2)"),
    *("STRING_AGG(DISTINCT name, '-' ORDER BY name DESC)", "APPROX_COUNT_DISTINCT(name)"),
    *("FSUM(x)", "KAHAN_SUM(x)", "SUMKAHAN(n)", "SUM_NO_OVERFLOW(n)", "FAVG(n)", "SEM(n)", "BITSTRING_AGG(n, 0, 9)"),
    *("GEOMEAN(n + 1)", "GEOMETRIC_MEAN(n + 1)", "WAVG(x, n + 1)", "WEIGHTED_AVG(x, n)", "WAVG(n, n + 1)"),
    *("HISTOGRAM(n, [2, 5])", "HISTOGRAM_EXACT(n, [2, 5])", "LEN(APPROX_TOP_K(name, 2))"),
    *("SUM(x) + MEDIAN(n) * 2", "VAR_POP(x) > 1 AND BOOL_AND(wet)", "ARRAY_AGG(DISTINCT n ORDER BY n)"),
]
"""Calls that mean the same in any order of rows."""
BY_TIME = {
    "COUNT_IF(wet)": "coalesce(count_if(wet), 0)",
    "FIRST(x)": "first(x ORDER BY ts, x)",
    "LAST(x)": "first(x ORDER BY ts DESC, x DESC NULLS LAST)",
    "LAST(n) FILTER (WHERE wet)": "first(n ORDER BY ts DESC, n DESC NULLS LAST) FILTER (WHERE wet)",
    "LAST(name) IGNORE NULLS": "first(name ORDER BY ts DESC, name DESC) FILTER (WHERE name IS NOT NULL)",
    "FIRST(name ORDER BY n DESC NULLS LAST)": "first(name ORDER BY n DESC NULLS LAST, ts, name)",
    "LAST(name ORDER BY n, x DESC)": "last(name ORDER BY n, x DESC, ts, name NULLS FIRST)",
    "FIRST_VALUE(wet ORDER BY x NULLS FIRST)": "first(wet ORDER BY x NULLS FIRST, ts, wet)",
    "ANY_VALUE(name)": "any_value(name ORDER BY ts, name)",
    "ARG_MIN(name, x)": "arg_min(name, x ORDER BY ts, name)",
    "MAX_BY(ts, n) FILTER (WHERE wet)": "arg_max(ts, n ORDER BY ts) FILTER (WHERE wet)",
    "GEOMEAN(n + 1) FILTER (WHERE wet)": "exp(avg(ln(n + 1)) FILTER (WHERE wet))",
    "ARGMAX(n, name)": "arg_max(n, name ORDER BY ts, n)",
    "ARGMIN(name, x)": "arg_min(name, x ORDER BY ts, name)",
    "ARG_MIN_NULLS_LAST(n, x)": "first(n ORDER BY x NULLS LAST, ts, n NULLS LAST)",
    "ARG_MAX_NULLS_LAST(n, x)": "first(n ORDER BY x DESC NULLS LAST, ts, n NULLS LAST)",
    "ARG_MAX(n, name)": "arg_max(n, name ORDER BY ts, n)",
    "ARG_MAX(x, n, 2)": "arg_max(x, n, 2 ORDER BY ts, x)",
    "MODE(n)": "mode(n ORDER BY ts, n)",
    "MODE(name) FILTER (WHERE n > 2)": "mode(name ORDER BY ts, name) FILTER (WHERE n > 2)",
    "STRING_AGG(name, ', ')": "string_agg(name, ', ' ORDER BY ts, name)",
    "STRING_AGG(name, '' ORDER BY n DESC, name)": "string_agg(name, '' ORDER BY n DESC, name)",
    "LISTAGG(n, ';') WITHIN GROUP (ORDER BY x)": "string_agg(n, ';' ORDER BY x, ts, n)",
    "ARRAY_AGG(x)": "list(x ORDER BY ts, x)",
    "ARRAY_AGG(name ORDER BY n) FILTER (WHERE wet)": "list(name ORDER BY n, ts, name) FILTER (WHERE wet)",
    "LIST([n, n + 1] ORDER BY x)": "list([n, n + 1] ORDER BY x, ts, [n, n + 1])",
    "FIRST([n, 1])": "first([n, 1] ORDER BY ts, [n, 1]::VARCHAR)",
    "APPROX_QUANTILE(n, 0.3)": "round(quantile_cont(n, 0.3))::INT",
    "APPROX_PERCENTILE(0.5, 0.01) WITHIN GROUP (ORDER BY x)": "quantile_cont(x, 0.5)",
}
"""Calls that go by event time, or round, and what DuckDB is asked."""
CALLS = {**{call: call for call in SAME}, **BY_TIME}

readings = st.lists(
    st.fixed_dictionaries(
        {
            "ts": st.integers(0, 40).map(lambda quarter: quarter * 250_000),
            "k": st.sampled_from([1, 1, 2]),
            "x": st.none() | st.integers(-40, 40).map(lambda eighth: eighth / 8),
            "n": st.none() | st.integers(0, 9),
            "wet": st.none() | st.booleans(),
            "name": st.none() | st.sampled_from(["", "a", "b", "B", "ä"]),
        }
    ),
    min_size=1,
    max_size=24,
)


@cache
def stages(window):
    columns = ", ".join(f"{call} AS c{number}" for number, call in enumerate(CALLS))
    query = f"CREATE MATERIALIZED VIEW v AS SELECT k, window_start, {columns} FROM {window} GROUP BY k, window_start"
    return cut_view(session(SOURCE, query).plan("v"))


def found(window, batches):
    routes, operator = stages(window).feeds[0].build_route(), stages(window).build_operate()
    for batch in batches:
        operator.transition(routes.transition(batch))
    rows = operator.advance(END_OF_TIME).to_pylist()
    return {(row["k"], row["window_start"]): list(row.values())[2:] for row in rows}


def expected(window, batch):
    starts = [window_starts(moment, WINDOWS[window]) for moment in batch.column("ts").cast(pa.int64()).to_pylist()]
    places = [(row, start) for row, mine in enumerate(starts) for start in mine]
    copies = pa.Table.from_batches([batch]).take(pa.array([row for row, _ in places], pa.int64()))
    copied = copies.append_column("start", pa.array([start for _, start in places], pa.timestamp("us")))  # noqa: F841
    columns = ", ".join(CALLS.values())
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        rows = connection.sql(f"SELECT k, start, {columns} FROM copied GROUP BY k, start").fetchall()
    return {row[:2]: list(row[2:]) for row in rows}


def alike(left, right):
    """Equal, but for the digits that DuckDB loses by rounding at every step."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9) or (left != left and right != right)
    return left == right or (isinstance(right, dict) and dict(left) == right)


@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=12)
@given(
    rows=readings, cuts=st.lists(st.integers(0, 24), max_size=2).map(sorted), order=st.randoms(use_true_random=False)
)
def test_every_aggregate_agrees_with_duckdb_in_any_order_and_batches(window, rows, cuts, order):
    batch = pa.RecordBatch.from_pylist(rows, SCHEMA)
    wanted = expected(window, batch)
    order.shuffle(rows)
    bounds = [0, *cuts, len(rows)]
    parts = [pa.RecordBatch.from_pylist(rows[a:b], SCHEMA) for a, b in pairwise(bounds)]
    got = found(window, parts)
    assert got.keys() == wanted.keys()
    for key, row in wanted.items():
        wrong = [each for each in zip(CALLS, got[key], row, strict=True) if not alike(*each[1:])]
        assert not wrong, f"in {key}: {wrong}"
