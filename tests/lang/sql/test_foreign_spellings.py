"""What other stream processors understand is refused with what to write here."""

import pytest

from tests.lang.sql.scripts import refused, refused_view

TUMBLE = "FROM TUMBLE(stream, ts, INTERVAL '10' SECOND)"
HOP = "FROM HOP(stream, ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
SLIDING = "FROM SLIDING(a, ts, INTERVAL '1' HOUR) AS a JOIN SLIDING(b, ts, INTERVAL '1' HOUR) AS b"


@pytest.mark.parametrize(
    ("query", "instead"),
    [
        ("SELECT COUNT(*) FROM TABLE(TUMBLE(TABLE traffic, DESCRIPTOR(ts), INTERVAL '10' SECONDS))", TUMBLE),
        ("SELECT COUNT(*) FROM TUMBLE(TABLE traffic, DESCRIPTOR(ts), INTERVAL '10' SECOND)", TUMBLE),
        (
            "SELECT COUNT(*) FROM TABLE(HOP(TABLE traffic, DESCRIPTOR(ts), INTERVAL '5' SECOND))",
            HOP,
        ),
        ("SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) FROM traffic", "window_start"),
        ("SELECT COUNT(*) FROM traffic GROUP BY segment, TUMBLE(ts, INTERVAL '1' MINUTE)", TUMBLE),
        ("SELECT t.speed FROM traffic AS t JOIN d FOR SYSTEM_TIME AS OF t.ts ON t.sensor = d.k", "JOIN table ON"),
        ("SELECT * FROM traffic MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE A AS A.speed > 1)", SLIDING),
        (
            "SELECT COUNT(*) FROM traffic WINDOW TUMBLING (SIZE 30 SECONDS) GROUP BY segment EMIT CHANGES",
            TUMBLE,
        ),
        ("SELECT segment FROM traffic EMIT CHANGES", "leave EMIT out"),
        ("SELECT a.segment FROM traffic a JOIN traffic b WITHIN 1 HOUR ON a.segment = b.segment EMIT CHANGES", SLIDING),
        ("SELECT segment, COUNT(*) FROM traffic TIMESTAMP BY ts GROUP BY segment", "WATERMARK FOR ts AS ts"),
        ("SELECT segment, COUNT(*) FROM traffic GROUP BY segment, TumblingWindow(second, 10)", TUMBLE),
        ("SELECT segment, COUNT(*) FROM traffic GROUP BY segment, HoppingWindow(second, 10, 5)", HOP),
        ("SELECT System.Timestamp() AS t FROM traffic", "window_end"),
        ("SELECT segment INTO out FROM traffic", "CREATE MATERIALIZED VIEW name AS SELECT"),
        ("SELECT DATEDIFF(second, ts, ts) AS d FROM traffic", "date_diff('second', a.ts, b.ts)"),
        ("SELECT window(ts, '10 seconds'), COUNT(*) FROM traffic GROUP BY window(ts, '10 seconds')", TUMBLE),
        ("SELECT COUNT(*) FROM traffic GROUP BY session_window(ts, '10 seconds')", "FROM SESSION_WINDOW(stream, ts"),
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
