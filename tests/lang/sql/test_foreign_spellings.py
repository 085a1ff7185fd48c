"""What other stream processors understand is refused with what to write here."""

import pytest

from tests.lang.sql.scripts import refused, refused_view

HOP = "FROM HOP(stream, ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        (
            "SELECT COUNT(*) FROM TABLE(CUMULATE(TABLE traffic, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '1' DAY))",
            "OVER (PARTITION BY window_start",
        ),
        ("SELECT COUNT(*) FROM traffic WINDOW TUMBLING (SIZE 9 SECONDS, GRACE PERIOD 1 SECOND)", "leave GRACE PERIOD"),
        ("SELECT segment, COUNT(*) FROM traffic GROUP BY segment, SlidingWindow(second, 10)", HOP),
        ("SELECT LAG(speed) OVER (LIMIT DURATION(minute, 5)) FROM traffic", "CASE WHEN LAG(ts) OVER w"),
        ("SELECT segment FROM traffic WHERE ISFIRST(minute, 10) = 1", "QUALIFY ROW_NUMBER()"),
        ("SELECT TopOne() OVER (ORDER BY speed) FROM traffic", "ARG_MAX"),
        ("SELECT segment INTO out FROM traffic", "CREATE MATERIALIZED VIEW name AS SELECT"),
        ("SELECT t.speed FROM traffic t, LATERAL (SELECT speed FROM traffic) u", "LATERAL is not available"),
        ("SELECT time_bucket_gapfill('1 minute', ts) AS t, COUNT(*) FROM traffic GROUP BY t", "silent_rows='true'"),
        ("SELECT COUNT(*) FROM traffic GROUP BY foo(ts)", "unknown function 'foo'"),
        ("SELECT e.v FROM traffic CROSS APPLY GetArrayElements(tags) AS e", "CROSS JOIN UNNEST(list)"),
        ("SELECT e.v FROM traffic, LATERAL FLATTEN(input => tags) AS e", "CROSS JOIN UNNEST(list)"),
        ("SELECT avg(speed) FROM traffic SAMPLE BY 1m", "SAMPLE BY is written FROM TUMBLE"),
        ("SELECT TOP 5 speed FROM traffic", "ORDER BY x DESC LIMIT n"),
        ("SELECT speed FROM traffic TABLESAMPLE 10 PERCENT", "WHERE hash(key) % 10 = 0"),
        ('SELECT speed FROM traffic WHERE sensor = "i80"', "a text stands in single quotes: 'i80'"),
        (
            "SELECT COUNT(*) FROM TUMBLE(traffic, ts, INTERVAL '1' DAY) WHERE COUNT(*) > 1",
            "stands in SELECT or in HAVING",
        ),
        ("SELECT LAG(speed) FROM traffic", "LAG goes with OVER (PARTITION BY key ORDER BY ts)"),
        ("SELECT sensor.kind FROM traffic", "write sensor ->> 'kind'"),
        ("SELECT * FROM traffic LATEST ON ts PARTITION BY sensor", "WITH (emit='changes')"),
        ("SELECT * FROM traffic ORDER BY ts LIMIT 1 BY sensor", "QUALIFY ROW_NUMBER()"),
        ("SELECT avg(speed) FROM traffic GROUP BY sensor, time(1m)", "date_trunc('minute', ts)"),
        ("SELECT quantile(0.9)(speed) FROM traffic GROUP BY sensor", "QUANTILE_CONT(x, 0.9)"),
        ("SELECT candlestick_agg(ts, speed, flow) FROM traffic GROUP BY date_trunc('minute', ts)", "FIRST(x ORDER BY"),
        ("SELECT approx_percentile(0.5, percentile_agg(speed)) FROM traffic GROUP BY ts", "APPROX_QUANTILE(x, 0.5)"),
        ("SELECT sensor FROM traffic GROUP BY Windows(TumblingWindow(minute, 1))", "make a view of each"),
        ("SELECT CollectTop(3) OVER (ORDER BY speed) FROM traffic", "ARG_MAX(column, x, 3)"),
        ("SELECT sensor, PROCTIME() AS p FROM traffic", "name its column"),
        ("PIVOT traffic ON segment USING SUM(flow)", "FILTER (WHERE key = 'a')"),
        ("SELECT sensor FROM traffic WHERE speed > ALL (SELECT speed FROM traffic)", "x > (SELECT MAX(y) FROM t)"),
        (
            "SELECT lttb(ts, speed, 3) AS x FROM TUMBLE(traffic, ts, INTERVAL '1' HOUR) GROUP BY segment",
            "the aggregate LTTB is not available",
        ),
    ],
)
def test_query_of_another_system_is_told_in_ours(query, instead):
    message = refused_view(query)
    assert message.startswith("line 2, column ")
    assert instead in message


@pytest.mark.parametrize(
    ("statement", "instead"),
    [
        ("CREATE STREAM s (k VARCHAR) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON')", "CREATE SOURCE name"),
        ("CREATE STREAM s AS SELECT segment FROM traffic EMIT CHANGES", "CREATE MATERIALIZED VIEW name AS"),
        ("CREATE TABLE s AS SELECT segment FROM traffic", "CREATE MATERIALIZED VIEW name AS"),
        ("CREATE TABLE s AS SELECT segment FROM traffic WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY 1", "VIEW name AS"),
        ("CREATE STREAM s AS SELECT IFNULL(segment, 0) AS s FROM traffic", "CREATE MATERIALIZED VIEW name AS"),
        ("CREATE MACRO twice(x) AS x * 2", "create_function(name"),
        ("SUBSCRIBE TO traffic", "CREATE MATERIALIZED VIEW name AS"),
        ("SELECT segment FROM traffic", "CREATE MATERIALIZED VIEW name AS"),
        ("INSERT INTO out SELECT segment FROM traffic", "CREATE MATERIALIZED VIEW name AS"),
        ("CREATE SINK s FROM v WITH (connector='kafka')", "the folder of --out"),
    ],
)
def test_statement_of_another_system_is_told_in_ours(statement, instead):
    assert refused(f"\n  {statement}").startswith("line 2, column ")
    assert instead in refused(statement)


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        ("WITH RECURSIVE t AS (SELECT segment FROM traffic) SELECT segment FROM t", "recursion is written as rules"),
        ("SELECT segment FROM traffic UNION SELECT segment FROM traffic", "write UNION ALL"),
        ("SELECT segment, (SELECT MAX(speed) FROM traffic) AS m FROM traffic", "let a JOIN or a view compute it"),
        ("SELECT segment FROM traffic WHERE segment IN (SELECT speed FROM traffic)", "SLIDING(traffic, time"),
        ("SELECT DISTINCT segment FROM traffic", "SELECT DISTINCT key FROM TUMBLE"),
        ("SELECT segment FROM traffic ORDER BY segment", "FROM TUMBLE(stream, ts, INTERVAL '1' MINUTE)"),
        (
            "SELECT a.segment FROM traffic AS a ANTI JOIN traffic AS b ON a.segment = b.segment",
            "EXISTS (SELECT 1",
        ),
    ],
)
def test_what_is_not_available_yet_is_refused_with_the_way_out(query, instead):
    assert instead in refused_view(query)


def test_words_of_other_systems_can_be_names():
    script = "CREATE SOURCE stream (within INT, emit INT) WITH (connector='file', path='x.csv')"
    query = "CREATE MATERIALIZED VIEW v AS SELECT within + emit AS changes, spede FROM stream"
    assert "unknown column 'spede'" in refused(f"{script};{query}")
