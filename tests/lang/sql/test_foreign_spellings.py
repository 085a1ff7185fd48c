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
        ("SELECT time_bucket_gapfill('1 minute', ts) AS t, COUNT(*) FROM traffic GROUP BY t", "unknown function 'time"),
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
