"""The ends of a window inside aggregates, keys and conditions, as DuckDB answers over readings with their windows."""

import duckdb
import pytest

from tests.lang.sql.scripts import HOP, TUMBLE, answers, refused_view

SESSION = "SESSION_WINDOW(traffic, ts, INTERVAL '10' SECOND)"
READINGS = [
    {"ts": second, "sensor": f"s{second % 3}", "segment": second % 2, "speed": float(second * 7 % 50), "flow": second}
    for second in (1, 4, 9, 31, 33, 58, 61, 64, 90, 95, 119, 120, 187, 3599, 3600)
]
STARTS = {TUMBLE: (30, 30), HOP: (10, 30)}
"""Slide and size."""


def with_windows(window):
    """A table ``w``: each reading beside each of its windows."""
    connection = duckdb.connect()
    connection.sql("SET TimeZone = 'UTC'")
    rows = ", ".join(
        f"({r['ts']}, '{r['sensor']}', {r['segment']}::INT, {r['speed']}::DOUBLE, {r['flow']}::BIGINT)"
        for r in READINGS
    )
    connection.sql(
        "CREATE TABLE t AS SELECT make_timestamp(s::BIGINT * 1000000) AS ts, sensor, segment, speed, flow "
        f"FROM (VALUES {rows}) v(s, sensor, segment, speed, flow)"
    )
    if window == SESSION:
        connection.sql(
            "CREATE TABLE w AS SELECT *, min(ts) OVER s AS window_start, max(ts) OVER s + INTERVAL 10 SECOND AS "
            "window_end FROM (SELECT *, sum(new) OVER (ORDER BY ts) AS id FROM (SELECT *, "
            "coalesce((ts - lag(ts) OVER (ORDER BY ts) > INTERVAL 10 SECOND)::INT, 1) AS new FROM t)) "
            "WINDOW s AS (PARTITION BY id)"
        )
        return connection
    slide, size = STARTS[window]
    connection.sql(
        f"CREATE TABLE w AS SELECT *, window_start + INTERVAL {size} SECOND AS window_end FROM (SELECT t.*, "
        f"unnest(range(time_bucket(INTERVAL {slide} SECOND, ts - INTERVAL {size - slide} SECOND), "
        f"ts + INTERVAL 1 MICROSECOND, INTERVAL {slide} SECOND)) AS window_start FROM t) WHERE window_start <= ts"
    )
    return connection


def agree(select, window, group, having=""):
    """Whether a view says what DuckDB says; the window is in every group."""
    query = f"SELECT {select} FROM {{}} GROUP BY {group} {having}"
    expected = with_windows(window).sql(query.format("w")).fetchall()
    got = [tuple(row.values()) for row in answers(query.format(window), *READINGS)]
    assert sorted(map(str, got)) == sorted(map(str, expected))
    assert expected


@pytest.mark.parametrize("window", [TUMBLE, HOP, SESSION], ids=["tumble", "hop", "session"])
@pytest.mark.parametrize(
    "select",
    [
        "MAX(window_start) AS a, MIN(window_end) AS b, COUNT(window_start) AS c, COUNT(DISTINCT window_end) AS d",
        "SUM(CASE WHEN window_start >= TIMESTAMP '1970-01-01 00:01:00' THEN speed ELSE 0 END)::DOUBLE AS a",
        "SUM(CASE WHEN window_start >= TIMESTAMP '1970-01-01 00:01:00' THEN 1 ELSE 0 END)::BIGINT AS a",
        "COUNT(*) FILTER (WHERE window_end < TIMESTAMP '1970-01-01 00:01:00') AS a, COUNT(CASE WHEN "
        "minute(window_start) = 1 THEN speed END) AS b",
        "MAX(speed) FILTER (WHERE window_start < TIMESTAMP '1970-01-01 00:01:00' AND minute(window_end) = 0) AS a",
        "AVG(epoch(window_start)) AS a, MAX(date_trunc('minute', window_end)) AS b",
        "STDDEV_POP(minute(window_end)) AS a, STDDEV_SAMP(minute(window_end)) AS b",
        "epoch(window_end - window_start) + COUNT(*) AS a, date_diff('second', window_start, MAX(ts)) AS b",
    ],
)
def test_ends_of_a_window_inside_aggregates(window, select):
    agree(f"window_start, {select}", window, "window_start, window_end")


@pytest.mark.parametrize("window", [TUMBLE, HOP, SESSION], ids=["tumble", "hop", "session"])
@pytest.mark.parametrize(
    ("select", "group"),
    [
        (
            "date_trunc('hour', window_start) AS h, COUNT(*) AS n",
            "window_start, window_end, date_trunc('hour', window_start)",
        ),
        ("strftime(window_start, '%H:%M') AS h, COUNT(*) AS n", "h, window_start, window_end"),
        ("window_start + INTERVAL '1' HOUR AS h, window_end, COUNT(*) AS n", "1, 2"),
    ],
)
def test_expressions_of_the_window_in_group_by(window, select, group):
    agree(select, window, group)


@pytest.mark.parametrize("part", ["date_trunc('minute', window_start)", "date_trunc('hour', window_start)"])
@pytest.mark.parametrize("key", ["expression", "alias", "position"])
def test_group_of_several_windows(part, key):
    group = {"expression": part, "alias": "h", "position": "1"}[key]
    agree(f"{part} AS h, COUNT(*) AS n, MAX(window_start) AS last, AVG(speed) AS speed", TUMBLE, group)


@pytest.mark.parametrize("part", ["window_start::DATE", "time_bucket(INTERVAL '5' MINUTE, window_start)"])
def test_group_of_many_windows(part):
    agree(
        f"{part} AS h, segment, SUM(flow)::BIGINT AS n", TUMBLE, "1, 2", f"HAVING COUNT(*) > 1 AND {part} IS NOT NULL"
    )


def test_having_asks_about_the_window():
    agree(
        "window_start, COUNT(*) AS n",
        HOP,
        "1, window_end",
        "HAVING minute(window_start) = 1 AND MAX(window_end) > TIMESTAMP '1970-01-01'",
    )


@pytest.mark.parametrize("window", [HOP, SESSION])
@pytest.mark.parametrize(
    "part", ["hour(window_start)", "date_trunc('hour', window_start)", "date_trunc('month', window_end)"]
)
def test_group_that_may_hold_several_windows_is_refused(window, part):
    message = refused_view(f"SELECT {part} AS h, COUNT(*) FROM {window} GROUP BY 1")
    assert "may put several windows into one group; name window_start in GROUP BY too" in message


def test_window_of_a_group_of_several_is_refused():
    message = refused_view(f"SELECT window_start, COUNT(*) FROM {TUMBLE} GROUP BY date_trunc('hour', window_start)")
    assert message.endswith("column 'window_start' must stand in GROUP BY or inside an aggregate")


def test_aggregate_of_readings_and_window_over_hop_is_refused():
    message = refused_view(f"SELECT AVG(epoch(ts - window_start)) FROM {HOP}")
    assert "compares window_start and window_end with constants only; write TUMBLE" in message
