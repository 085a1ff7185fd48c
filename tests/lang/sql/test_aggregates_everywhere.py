"""Every aggregate wherever an aggregate may stand, against DuckDB over the same rows."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.model.changes import MINUS, OP
from skerry.sinks.memory import MemorySink
from tests.lang.sql.scripts import refused

COLUMNS = "k VARCHAR, ts TIMESTAMP, x DOUBLE, n INT, p DECIMAL(8,3), wet BOOLEAN, day DATE, word VARCHAR"
SOURCE = f"""CREATE SOURCE r ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '20' SECOND)
    WITH (connector='file', path='r.csv');"""
TOTALS = [
    *("COUNT(*)", "COUNT(x)", "SUM(x)", "SUM(n)", "SUM(p)", "AVG(x)", "AVG(p)", "MIN(x)", "MAX(word)", "MIN(day)"),
    *(
        "MAX(ts)",
        "MIN(wet)",
        "BOOL_AND(wet)",
        "BOOL_OR(wet)",
        "STDDEV(x)",
        "STDDEV_POP(n)",
        "VARIANCE(x)",
        "VAR_POP(n)",
    ),
    *("FSUM(n)", "KAHAN_SUM(x)", "FAVG(n)"),
]
"""What a number or two per group are enough for: they may run on with OVER, and go without a window."""
PAIRS = ["CORR(x, n)", "COVAR_POP(x, n)", "COVAR_SAMP(x, n)", "REGR_SLOPE(x, n)", "REGR_R2(x, n)", "REGR_COUNT(x, n)"]
OF_VALUES = [
    *(
        "MEDIAN(x)",
        "QUANTILE_CONT(x, 0.9)",
        "QUANTILE_DISC(word, 0.3)",
        "COUNT(DISTINCT word)",
        "MAX(x, 2)",
        "MIN(n, 2)",
    ),
    *("MAD(x)", "BIT_AND(n)", "BIT_OR(n)", "BIT_XOR(n)", "HISTOGRAM(n)"),
]
"""What needs the values themselves, and is as exact in a frame."""
OF_GROUPS = [
    *("SUM(DISTINCT n)", "AVG(DISTINCT n)", "KURTOSIS(x)", "SKEWNESS(x)", "ENTROPY(n)", "PRODUCT(n)", "SEM(x)"),
    *("STRING_AGG(DISTINCT word, '|' ORDER BY word)", "STRING_AGG(word, '|' ORDER BY ts, x)", "GEOMEAN(n + 1)"),
    *("ARRAY_AGG(n ORDER BY ts, x)", "WEIGHTED_AVG(x, n)", "QUANTILE_CONT(x, [0.1, 0.5])"),
]
WINDOWED = [*TOTALS, *PAIRS, *OF_VALUES, *OF_GROUPS]
MINUTE = "time_bucket(INTERVAL '1 minute', ts)"
SESSIONS = """(SELECT *, SUM(fresh) OVER (PARTITION BY k ORDER BY ts) AS session FROM (SELECT *, coalesce(
    ts - LAG(ts) OVER (PARTITION BY k ORDER BY ts) > INTERVAL '40' SECOND, true)::INT AS fresh FROM r))"""
CONTEXTS = {
    "tumble": (
        WINDOWED,
        "SELECT k, window_start AS w, {} AS v FROM TUMBLE(r, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start",
        f"SELECT k, {MINUTE} AS w, {{}} AS v FROM r GROUP BY ALL",
    ),
    "hop": (
        WINDOWED,
        "SELECT k, window_start AS w, {} AS v FROM HOP(r, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) "
        "GROUP BY k, window_start",
        f"SELECT k, w, {{}} AS v FROM (SELECT *, unnest([{MINUTE}, {MINUTE} - INTERVAL 1 MINUTE]) AS w FROM r) "
        "GROUP BY ALL",
    ),
    "session": (
        WINDOWED,
        "SELECT k, window_start AS w, {} AS v FROM SESSION_WINDOW(r, ts, INTERVAL '40' SECOND) GROUP BY 1, 2",
        f"SELECT k, MIN(ts) AS w, {{}} AS v FROM {SESSIONS} GROUP BY k, session",
    ),
    "a piece of time": (WINDOWED, *2 * (f"SELECT {MINUTE} AS w, {{}} AS v FROM r GROUP BY w",)),
    "filter": (
        [each for each in WINDOWED if not each.startswith(("GEOMEAN", "WEIGHTED", "ENTROPY"))],
        "SELECT k, window_start AS w, {} FILTER (WHERE n > 3) AS v FROM TUMBLE(r, ts, INTERVAL '1' MINUTE) "
        "GROUP BY k, window_start",
        f"SELECT k, {MINUTE} AS w, {{}} FILTER (WHERE n > 3) AS v FROM r GROUP BY ALL",
    ),
    "having": (
        WINDOWED,
        "SELECT k, window_start AS w FROM TUMBLE(r, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start "
        "HAVING {} IS NOT NULL AND COUNT(*) > 2",
        f"SELECT k, {MINUTE} AS w FROM r GROUP BY ALL HAVING {{}} IS NOT NULL AND COUNT(*) > 2",
    ),
    "landmark": (
        [*TOTALS, *PAIRS],
        "SELECT k, {} AS v FROM LANDMARK(r, ts, TIMESTAMP '2026-01-01 00:00:00') GROUP BY k",
        "SELECT k, {} AS v FROM r GROUP BY k",
    ),
    "changes": ([*TOTALS, *PAIRS], *2 * ("SELECT k, {} AS v FROM r GROUP BY k",)),
    "changes of windows": (
        WINDOWED,
        "SELECT k, window_start AS w, {} AS v FROM TUMBLE(r, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start",
        f"SELECT k, {MINUTE} AS w, {{}} AS v FROM r GROUP BY ALL",
    ),
    "rows": (
        [*TOTALS, *OF_VALUES, "ARGMAX(n, ts)"],
        *2 * ("SELECT k, ts, {} OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING) AS v FROM r",),
    ),
    "range": (
        [*TOTALS, *OF_VALUES, "LISTAGG(n, '-')"],
        *2
        * (
            "SELECT k, ts, {} OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT "
            "ROW) AS v FROM r",
        ),
    ),
    "running": (TOTALS, *2 * ("SELECT k, ts, {} OVER (PARTITION BY k ORDER BY ts) AS v FROM r",)),
    "within a window": (
        [*TOTALS, *OF_VALUES, "COUNT(DISTINCT n)"],
        "SELECT k, ts, {} OVER (PARTITION BY k, window_start) AS v FROM TUMBLE(r, ts, INTERVAL '1' MINUTE)",
        f"SELECT k, ts, {{}} OVER (PARTITION BY k, {MINUTE}) AS v FROM r",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Readings of two keys, each moment once, a little out of order; some have no value."""
    folder, random = tmp_path_factory.mktemp("everywhere"), np.random.default_rng(11)
    seconds = random.choice(900, 90, replace=False)
    times = np.sort(seconds + random.random(90)) + random.choice([0, -9], 90)
    stamps = pa.array(np.round((times + 1_780_000_000) * 1_000_000).astype("int64")).cast(pa.timestamp("us"))
    missing = random.random(90) < 0.1
    columns = {
        "k": pa.array(random.choice(["a", "b"], 90)),
        "ts": stamps.cast(pa.string()),
        "x": pa.array(random.integers(-40, 90, 90) / 4, mask=missing),
        "n": pa.array(random.integers(0, 9, 90), mask=random.random(90) < 0.1),
        "p": pa.array(random.integers(0, 9000, 90) / 1000),
        "wet": pa.array(random.random(90) < 0.5),
        "day": pa.array(random.choice(["2026-01-02", "2026-02-28"], 90)),
        "word": pa.array(random.choice(["sun", "rain", "über"], 90)),
    }
    pyarrow.csv.write_csv(pa.table(columns), folder / "r.csv")
    return folder


def net(rows):
    """What is left of rows that come and go, without the column that says so."""
    left = {}
    for row in rows:
        key = repr([value for name, value in row.items() if name != OP])
        count, _ = left.get(key, (0, None))
        left[key] = (count + (-1 if row.get(OP) == MINUS else 1), tuple(v for name, v in row.items() if name != OP))
    return [row for count, row in left.values() for _ in range(count)]


def alike(left, right):
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(right, dict):
        return dict(left) == right
    if (
        isinstance(left, bool)
        or left is None
        or right is None
        or isinstance(left, str)
        or not hasattr(left, "__float__")
    ):
        return left == right
    return math.isclose(float(left), float(right), rel_tol=1e-9, abs_tol=1e-9) or (left != left and right != right)


@pytest.mark.parametrize("context", CONTEXTS)
def test_aggregates_agree_with_duckdb(folder, context):
    calls, query, twin = CONTEXTS[context]
    options = " WITH (emit='changes')" if context.startswith("changes") else ""
    views = (f"CREATE MATERIALIZED VIEW v{n}{options} AS {query.format(call)};" for n, call in enumerate(calls))
    database, sink = Database(Catalog.in_memory(), folder), MemorySink()
    database.execute(SOURCE + "".join(views))
    database.run(sink, Settings("fjord", step_rows=17))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE r ({COLUMNS}); COPY r FROM '{folder / 'r.csv'}' (HEADER)")
        for number, call in enumerate(calls):
            wanted = sorted(connection.sql(twin.format(call)).fetchall(), key=repr)
            found = sorted(net(sink.table(f"v{number}").to_pylist()), key=lambda row: repr(row[:2]))
            by_key = sorted(wanted, key=lambda row: repr(row[:2]))
            wrong = [pair for pair in zip(found, by_key, strict=True) if not alike(*pair)]
            assert not wrong, f"{call}: {wrong[:3]}"


@pytest.mark.parametrize(
    "call", [*OF_VALUES, *(each for each in OF_GROUPS if not each.startswith(("GEO", "WEIGHTED")))]
)
def test_what_needs_all_values_needs_a_window(call):
    message = refused(f"{SOURCE} CREATE MATERIALIZED VIEW v WITH (emit='changes') AS SELECT {call} FROM r")
    assert "without a window would keep all values" in message


@pytest.mark.parametrize("call", [*PAIRS, "KURTOSIS(x)", "GEOMEAN(n)", "SUM(DISTINCT n)"])
def test_what_rounds_on_the_way_has_no_frame(call):
    message = refused(f"{SOURCE} CREATE MATERIALIZED VIEW v AS SELECT {call} OVER (ORDER BY ts) FROM r")
    assert f"{call.partition('(')[0]} is not available with OVER" in message
