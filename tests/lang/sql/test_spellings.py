"""What other systems spell otherwise means what it is written as here: the plans are equal."""

import pytest

from skerry.plan.node import walk
from tests.lang.sql.scripts import TUMBLE, refused_view, session, view

MINUTE = "FROM TUMBLE(traffic, ts, INTERVAL '1' MINUTE)"
BY_WINDOW = f"SELECT segment, COUNT(*) AS n {MINUTE} GROUP BY segment, window_start, window_end"
HALF = "FROM HOP(traffic, ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE)"
BY_HOP = f"SELECT segment, MAX(speed) AS n {HALF} GROUP BY segment, window_start, window_end"
SESSION = "FROM SESSION_WINDOW(traffic, ts, INTERVAL '1' MINUTE) GROUP BY segment, window_start, window_end"
NEAR = "SELECT a.speed FROM traffic AS a JOIN traffic AS b ON {} AND a.sensor = b.sensor"


def plan_lines(query):
    return [node.describe().replace('"', "") for node in walk(view(query).root)]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            "SELECT segment, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE traffic, DESCRIPTOR(ts), INTERVAL '1' MINUTES)) "
            "GROUP BY segment, window_start, window_end",
            BY_WINDOW,
        ),
        (
            "SELECT segment, MAX(speed) AS n FROM TABLE(HOP(DATA => TABLE traffic, TIMECOL => DESCRIPTOR(ts), "
            "SIZE => INTERVAL '1' MINUTE, SLIDE => INTERVAL '30' SECOND)) GROUP BY segment, window_start, window_end",
            BY_HOP,
        ),
        (
            "SELECT segment, COUNT(*) AS n FROM TABLE(SESSION(TABLE traffic PARTITION BY segment, DESCRIPTOR(ts), "
            "INTERVAL '1' MINUTE)) GROUP BY segment, window_start, window_end",
            f"SELECT segment, COUNT(*) AS n {SESSION}",
        ),
        ("SELECT segment, COUNT(*) AS n FROM traffic GROUP BY segment, TUMBLE(ts, INTERVAL '1' MINUTE)", BY_WINDOW),
        (
            "SELECT HOP_START(ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE) AS s, COUNT(*) AS n FROM traffic "
            "GROUP BY HOP(ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE)",
            f"SELECT window_start AS s, COUNT(*) AS n {HALF} GROUP BY window_start, window_end",
        ),
        (
            "SELECT SESSION_END(ts, INTERVAL '1' MINUTE) AS e, segment FROM traffic "
            "GROUP BY segment, SESSION(ts, INTERVAL '1' MINUTE)",
            f"SELECT window_end AS e, segment {SESSION}",
        ),
        ("SELECT segment, COUNT(*) AS n FROM traffic WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY segment", BY_WINDOW),
        (
            "SELECT segment, MAX(speed) AS n FROM traffic WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 30 SECONDS) "
            "GROUP BY segment EMIT CHANGES",
            BY_HOP,
        ),
        (
            "SELECT segment, WINDOWEND AS e FROM traffic WINDOW SESSION (60 SECONDS) GROUP BY segment EMIT FINAL",
            f"SELECT segment, window_end AS e {SESSION}",
        ),
        (
            "SELECT segment, COUNT(*) AS n FROM traffic TIMESTAMP BY ts GROUP BY segment, TumblingWindow(minute, 1)",
            BY_WINDOW,
        ),
        *(
            (
                f"SELECT segment, MAX(speed) AS n FROM traffic GROUP BY segment, {spelled}",
                "SELECT segment, MAX(speed) AS n FROM HOP(traffic, ts, INTERVAL '30' SECOND, INTERVAL '1' MINUTE, "
                "INTERVAL '10' SECOND) GROUP BY segment, window_start, window_end",
            )
            for spelled in (
                "HoppingWindow(second, 60, 30, 10)",
                "HoppingWindow(Duration(minute, 1), Hop(second, 30), Offset(second, 10))",
                "window(ts, '60 seconds', '30 seconds', '10 seconds')",
            )
        ),
        (
            "SELECT segment, COUNT(*) AS n FROM traffic GROUP BY segment, "
            "TumblingWindow(Duration(minute, 1), Offset(millisecond, -1))",
            "SELECT segment, COUNT(*) AS n FROM TUMBLE(traffic, ts, INTERVAL '1' MINUTE, INTERVAL '-1' MILLISECOND) "
            "GROUP BY segment, window_start, window_end",
        ),
        (
            "SELECT segment, COUNT(*) AS n FROM traffic GROUP BY segment, TumblingWindow(minute, 1, 2)",
            "SELECT segment, COUNT(*) AS n FROM TUMBLE(traffic, ts, INTERVAL '1' MINUTE, INTERVAL '2' MINUTE) "
            "GROUP BY segment, window_start, window_end",
        ),
        (
            "SELECT segment, MAX(speed) AS n FROM traffic GROUP BY segment, "
            "HoppingWindow(Duration(minute, 1), Duration(second, 30))",
            BY_HOP,
        ),
        (
            "SELECT segment, MAX(speed) AS n FROM traffic GROUP BY segment, "
            "HoppingWindow(Duration(minute, 1), Hop(second, 30))",
            BY_HOP,
        ),
        (
            "SELECT segment, MAX(speed) AS n FROM traffic GROUP BY window(ts, '1 minute', '30 seconds'), segment",
            BY_HOP,
        ),
        ("SELECT segment, COUNT(*) AS n FROM traffic GROUP BY segment WINDOW TUMBLING (ts, SIZE 1 MIN)", BY_WINDOW),
        (
            "SELECT segment, MAX(speed) AS n FROM traffic GROUP BY segment "
            "WINDOW SLIDING (ts, SIZE 60 SEC, ADVANCE BY 30 SEC)",
            BY_HOP,
        ),
        (
            "SELECT `segment`, COUNT(*) AS `n` FROM `traffic` WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY `segment`",
            BY_WINDOW,
        ),
        (
            "SELECT System.Timestamp() AS e, segment FROM traffic GROUP BY segment, SessionWindow(minute, 1, 60)",
            f"SELECT window_end AS e, segment {SESSION}",
        ),
        ("SELECT segment, COUNT(*) AS n FROM traffic GROUP BY segment, window(ts, '1 minute')", BY_WINDOW),
        (f"SELECT segment, COUNT(*) AS n {MINUTE} GROUP BY ALL EMIT ON WINDOW CLOSE", BY_WINDOW),
        (
            f"SELECT segment, COUNT(*) AS n {MINUTE} GROUP BY segment, window_start, window_end HAVING n > 2",
            f"{BY_WINDOW} HAVING (COUNT(*)) > 2",
        ),
        (
            "SELECT sensor FROM traffic WHERE speed > 3 AND ts > now() - INTERVAL '1 hour'",
            "SELECT sensor FROM traffic WHERE speed > 3",
        ),
        ("SELECT sensor FROM traffic WHERE mz_now() <= ts + INTERVAL '1 hour'", "SELECT sensor FROM traffic"),
        (
            "SELECT a.speed FROM traffic AS a JOIN traffic AS b ON a.sensor = b.sensor "
            "WHERE a.ts >= now() - INTERVAL '1' HOUR AND b.ts >= now() - INTERVAL '1' MINUTE",
            "SELECT a.speed FROM SLIDING(traffic, ts, INTERVAL '1' HOUR) AS a "
            "JOIN SLIDING(traffic, ts, INTERVAL '1' MINUTE) AS b ON a.sensor = b.sensor",
        ),
        (
            "SELECT a.speed FROM traffic a JOIN traffic b WITHIN (1 MINUTE, 2 MINUTES) ON a.sensor = b.sensor",
            NEAR.format("b.ts BETWEEN a.ts - INTERVAL '1' MINUTE AND a.ts + INTERVAL '2' MINUTES"),
        ),
        ("SELECT DATEADD(second, 10, ts) AS t FROM traffic", "SELECT (ts + to_seconds(10)) AS t FROM traffic"),
        ("SELECT TIMESTAMPDIFF(HOUR, ts, ts) AS t FROM traffic", "SELECT date_sub('hour', ts, ts) AS t FROM traffic"),
        ("SELECT FLOOR(ts TO MINUTE) AS t FROM traffic", "SELECT date_trunc('MINUTE', ts) AS t FROM traffic"),
        (
            "SELECT TO_CHAR(ts, 'YYYY-MM-DD HH24:MI') AS t FROM traffic",
            "SELECT strftime(ts, '%Y-%m-%d %H:%M') AS t FROM traffic",
        ),
        (
            "SELECT DATE_FORMAT(ts, 'yyyy-MM-dd''T''HH') AS t FROM traffic",
            "SELECT strftime(ts, '%Y-%m-%dT%H') AS t FROM traffic",
        ),
        ("SELECT LATEST_BY_OFFSET(speed) AS s FROM " + TUMBLE, "SELECT LAST(speed) AS s FROM " + TUMBLE),
    ],
)
def test_query_of_another_system_means_ours(theirs, ours):
    assert plan_lines(theirs) == plan_lines(ours)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("collect_set(segment)", "list(DISTINCT segment)"),
        ("count_distinct(segment)", "count(DISTINCT segment)"),
        ("STDEV(speed) + VAR(speed)", "stddev_samp(speed) + var_samp(speed)"),
        ("varp(flow) - stdevp(flow)", "var_pop(flow) - stddev_pop(flow)"),
        ("first(speed, ts)", "first(speed ORDER BY ts)"),
        ("last(speed, flow)", "last(speed ORDER BY flow)"),
        ("first(speed, true)", "first(speed) IGNORE NULLS"),
        ("first(speed, false)", "first(speed)"),
        ("countIf(speed > 3)", "count_if(speed > 3)"),
        (
            "sumIf(flow, speed > 3) / avgIf(flow, speed < 3)",
            "sum(flow) FILTER (speed > 3) / avg(flow) FILTER (speed < 3)",
        ),
        ("sumIf(flow, speed > 3) FILTER (flow < 9)", "sum(flow) FILTER (speed > 3 AND flow < 9)"),
        ("uniqExact(sensor)", "count(DISTINCT sensor)"),
        ("groupArray(flow)", "list(flow)"),
        ("argMax(sensor, speed)", "arg_max(sensor, speed)"),
        ("percentile_approx(speed, 0.9)", "approx_quantile(speed, 0.9)"),
        ("topk(len(ucase(sensor)), 2)", "max(len(upper(sensor)), 2)"),
    ],
)
def test_aggregate_of_another_system_means_ours(theirs, ours):
    assert plan_lines(f"SELECT {theirs} AS x FROM {TUMBLE}") == plan_lines(f"SELECT {ours} AS x FROM {TUMBLE}")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("DATE_FORMAT(DATEADD(day, 1, ts), 'yyyy')", "strftime((ts + to_days(1)), '%Y')"),
        ("UCASE(LCASE(TO_VARCHAR(flow)))", "upper(lower(CAST(flow AS VARCHAR)))"),
        ("IFF(NVL(speed, 0) > 3, ZEROIFNULL(flow), 1)", "if(coalesce(speed, 0) > 3, coalesce(flow, 0), 1)"),
        ("SAFE_DIVIDE(flow, speed)", "(CAST(flow AS DOUBLE) / nullif(speed, 0))"),
        ("TO_DATE(ts)", "CAST(ts AS DATE)"),
        ("SIZE([speed])", "len([speed])"),
        ("DATEPART(hour, ts)", "date_part('hour', ts)"),
        ("DATENAME(month, ts) || DATENAME(year, ts)", "monthname(ts) || CAST(date_part('year', ts) AS VARCHAR)"),
        ("UNIX_TIMESTAMP(ts)", "CAST(floor(epoch(ts)) AS BIGINT)"),
        ("TIMESTAMP_TRUNC(ts, MINUTE)", "date_trunc('minute', ts)"),
        ("toStartOfHour(ts)", "date_trunc('hour', ts)"),
        ("TIME_SLICE(ts, 5, 'MINUTE')", "time_bucket(INTERVAL '5' MINUTE, ts)"),
        ("time_bucket('5 minutes', ts)", "time_bucket(INTERVAL '5 minutes', ts)"),
        ("TO_TIMESTAMP_LTZ(flow, 3)", "make_timestamp(CAST((flow) * 1000 AS BIGINT))"),
    ],
)
def test_function_of_another_system_means_ours(theirs, ours):
    assert plan_lines(f"SELECT {theirs} AS x FROM traffic") == plan_lines(f"SELECT {ours} AS x FROM traffic")


def test_times_of_a_source_are_made_of_numbers_as_flink_says_it():
    columns = "at_ms BIGINT, ts TIMESTAMP AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR ts AS ts"
    made = session(
        f"CREATE SOURCE s ({columns}) WITH (connector='file', path='s.csv')",
        "CREATE MATERIALIZED VIEW v AS SELECT ts FROM s",
    )
    assert made.plan("v").root.schema.names == ["ts"]


def test_json_is_taken_apart_inside_a_call():
    json = "CREATE SOURCE j (ts TIMESTAMP, body JSON, WATERMARK FOR ts AS ts) WITH (connector='file', path='j.jsonl')"
    query = (
        "SELECT MAX(body -> 'gps' ->> 'lat') AS x, upper(MIN(body -> 'n')) AS n FROM TUMBLE(j, ts, INTERVAL '1' DAY)"
    )
    assert session(json, f"CREATE MATERIALIZED VIEW v AS {query}").plan("v").root.schema.names == ["x", "n"]


def test_continuous_aggregate_of_timescale_is_a_view():
    query = "AS SELECT time_bucket('1 minute', ts) AS t, AVG(speed) AS speed FROM traffic GROUP BY t"
    theirs = session(f"CREATE MATERIALIZED VIEW v WITH (timescaledb.continuous) {query} WITH NO DATA").plan("v")
    assert theirs.root == session(f"CREATE MATERIALIZED VIEW v {query}").plan("v").root


def test_grouping_sets_are_a_union_of_groups():
    found = plan_lines(f"SELECT segment, sensor, COUNT(*) AS n {MINUTE} GROUP BY ROLLUP (segment, sensor)")
    assert sum("Aggregate" in line for line in found) == 3


def test_keys_outside_a_set_are_null_but_for_aggregates():
    sets = "GROUPING SETS ((segment), (sensor))"
    query = f"SELECT segment, GROUPING(segment) AS g, COUNT(segment) AS n {MINUTE} GROUP BY {sets}"
    schema = view(query).root.schema
    assert schema.names == ["segment", "g", "n"]


def test_elements_of_a_list_are_rows():
    columns = "k INT, ts TIMESTAMP, tags VARCHAR[], WATERMARK FOR ts AS ts"
    tagged = f"CREATE SOURCE s ({columns}) WITH (connector='file', path='s.jsonl')"
    for query in (
        "SELECT k, unnest(tags) AS tag FROM s",
        "SELECT k, tag FROM s CROSS JOIN UNNEST(tags) AS t (tag)",
        "SELECT s.k, t.tag FROM s, LATERAL unnest(s.tags) AS t (tag)",
    ):
        made = session(tagged, f"CREATE MATERIALIZED VIEW v AS {query}").plan("v")
        assert made.root.schema.names == ["k", "tag"]
        assert any("Rows per element" in node.describe() for node in walk(made.root))


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        ("SELECT speed FROM traffic WHERE ts < now() - INTERVAL '1' HOUR", "now() says how old readings may be"),
        ("SELECT unnest(sensor) AS s FROM traffic", "UNNEST takes a list"),
        ("SELECT unnest([speed]) + flow AS s FROM traffic", "FROM (SELECT unnest(...) AS x"),
        ("SELECT sensor FROM traffic CROSS JOIN UNNEST([1, 2]) AS t (flow)", "give the elements another name"),
        (f"SELECT segment, COUNT(*) {MINUTE} GROUP BY CUBE (a, b, c, d, e, f, g)", "64 at the most"),
    ],
)
def test_what_cannot_be_said_so_is_refused_with_what_to_write(query, instead):
    assert instead in refused_view(query)
