"""``emit='changes'``: what is refused, and what to write instead; what a plan says of its state."""

import pytest

from skerry.build.explain import explain
from tests.lang.sql.plans import Sources

ROAD = Sources(
    "CREATE SOURCE s (k VARCHAR, ts TIMESTAMP, x DOUBLE, n INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
    " WITH (connector='file', path='s.csv');"
    "CREATE MATERIALIZED VIEW per WITH (emit='changes') AS SELECT k, COUNT(*) AS n, MAX(ts) AS ts FROM s GROUP BY k;"
    "CREATE MATERIALIZED VIEW minutes WITH (emit='changes') AS SELECT k, window_start, window_end, COUNT(*) AS n"
    " FROM TUMBLE(s, ts, INTERVAL '1' MINUTE) GROUP BY k, window_start, window_end;"
    "CREATE MATERIALIZED VIEW beside WITH (emit='changes') AS SELECT a.k, a.ts, b.x"
    " FROM SLIDING(s, ts, INTERVAL '1' MINUTE) AS a LEFT JOIN SLIDING(s, ts, INTERVAL '1' MINUTE) AS b ON a.n = b.n;"
)
CHANGES = "WITH (emit='changes')"
MINUTE = "TUMBLE(s, ts, INTERVAL '1' MINUTE)"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT MEDIAN(x) FROM s", "MEDIAN without a window would keep all values that ever came; write APPROX_QUAN"),
        ("SELECT ARRAY_AGG(x) FROM s", "ARRAY_AGG without a window would keep all values that ever came; group within"),
        ("SELECT COUNT(DISTINCT x) FROM s", "write APPROX_COUNT_DISTINCT, or group within TUMBLE"),
        ("SELECT MIN(x) FROM beside", "MIN without a window would keep all values that ever came"),
        ("SELECT MEDIAN(x) FROM LANDMARK(s, ts, '2026-01-01')", "MEDIAN without a window would keep all values"),
        ("SELECT DISTINCT ts, k FROM s", "groups by the time 'ts' without a window would be kept for ever"),
        ("SELECT k, x FROM s ORDER BY x", "a view that gives changes needs LIMIT"),
        ("SELECT k, x FROM s LIMIT 3", "a view that gives changes needs ORDER BY"),
        ("SELECT k, x FROM beside ORDER BY x LIMIT 3", "would keep all of them for ever; group within TUMBLE"),
        ("SELECT n, COUNT(*) FROM SESSION_WINDOW(minutes, window_end, INTERVAL '1' MINUTE) GROUP BY n", "SESSION_WIN"),
        (f"SELECT RECEIVED_SAMPLES(k) FROM {MINUTE}", "counts samples"),
        ("SELECT COUNT(*) FROM TUMBLE(per, ts, INTERVAL '1' MINUTE) GROUP BY window_start", "none of its columns"),
        ("SELECT a.k FROM LAST_ROWS(s, 3) AS a JOIN LAST_ROWS(beside, 3) AS b ON a.k = b.k", "LAST_ROWS cannot read"),
        ("SELECT k FROM s AS a WHERE EXISTS (SELECT 1 FROM SLIDING(minutes, window_end, INTERVAL '1' MINUTE) AS b"
         " WHERE b.k = a.k)", "EXISTS cannot read rows that are taken back; read a view with emit = 'final'"),
    ],
)  # fmt: skip
def test_what_has_no_bound_or_cannot_take_rows_back_is_refused(query, message):
    assert message in ROAD.refused(query, CHANGES)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT k, COUNT(*) FROM s GROUP BY k", "let the view be kept current: WITH (emit='changes')"),
        ("SELECT DISTINCT k FROM s", "or, each combination once and kept for ever, WITH (emit='changes')"),
        ("SELECT k, LAG(n) OVER (PARTITION BY k ORDER BY window_end) FROM minutes", "OVER, ORDER BY or LIMIT cannot"),
        ("SELECT COUNT(*) FROM LANDMARK(s, ts, k)", "must be a constant"),
        ("SELECT COUNT(*) FROM LANDMARK(s, ts, 'soon')", "expected a moment, TIMESTAMP '2026-01-01 00:00:00'"),
        ("SELECT k FROM LANDMARK(s, ts, '2026-01-01')", "LANDMARK has no end; aggregate over it"),
    ],
)
def test_without_changes_it_is_said_how_to_ask_for_them(query, message):
    assert message in ROAD.refused(query)


def test_a_view_over_changes_cannot_be_final():
    assert "leave emit out" in ROAD.refused("SELECT n FROM per", "WITH (emit='final')")


def test_a_view_over_changes_gives_changes_and_one_over_closed_windows_does_not():
    assert ROAD.planned("SELECT n FROM per").root.schema.names == ["_op", "n"]
    hours = "SELECT window_start, SUM(n) AS n FROM TUMBLE(minutes, window_end, INTERVAL '1' HOUR) GROUP BY window_start"
    assert ROAD.planned(hours).root.schema.names == ["window_start", "n"]
    assert ROAD.planned(hours, CHANGES).root.schema.names == ["_op", "window_start", "n"]


def test_star_does_not_give_what_becomes_of_a_row_twice():
    assert ROAD.planned("SELECT * FROM per").root.schema.names == ["_op", "k", "n", "ts"]


def test_explain_says_that_state_grows_with_the_number_of_groups():
    text = explain(ROAD.planned("SELECT k, COUNT(*) AS n FROM s GROUP BY k", CHANGES))
    assert "operate: by k; state: one row per group, for ever, which grows with the number of groups" in text
    text = explain(ROAD.planned("SELECT n, MIN(k) AS k FROM per GROUP BY n", CHANGES))
    assert "state: one row per group, with all values for MIN, for ever" in text
