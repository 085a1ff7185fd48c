import pytest

from skerry.build.explain import explain
from skerry.catalog import Catalog
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.plan.absence import Absence

SOURCES = """
CREATE SOURCE a (k INT, ts TIMESTAMP, v DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='a.csv');
CREATE SOURCE b (k BIGINT, ts TIMESTAMP, v DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='b.csv');
CREATE TABLE t (k INT, name VARCHAR) WITH (connector='file', path='t.csv');
"""
SLIDING = "SLIDING(b, ts, INTERVAL '1' MINUTE) AS b"
MISSING = f"NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = a.k)"


def plan(text, options=""):
    session = Session(Catalog.in_memory())
    session.execute(f"{SOURCES} CREATE MATERIALIZED VIEW v{options} AS {text}")
    return session.plan("v")


def test_rows_wait_with_the_columns_that_are_wanted():
    found = plan(
        f"SELECT v + 1 AS more, ts FROM SLIDING(a, ts, INTERVAL '5' SECOND) AS a WHERE v > 3 AND ({MISSING})"
    ).root.input
    assert isinstance(found, Absence)
    assert [side.schema.names for side in found.sides] == [["ts", "v", "#time", "#0"], ["ts", "#0"]]
    assert [side.span_us for side in found.sides] == [5_000_000, 60_000_000]


def test_keys_are_compared_in_a_common_type():
    kinds = [side.schema.field(side.keys[0]).type for side in plan(f"SELECT v FROM a WHERE {MISSING}").root.input.sides]
    assert kinds[0] == kinds[1] == "int64"


def test_rows_come_as_late_as_their_window_is_long():
    found = plan(f"SELECT ts, v FROM SLIDING(a, ts, INTERVAL '5' SECOND) AS a WHERE {MISSING}").root
    assert [found.lag_us(name) for name in ("ts", "v")] == [5_000_000, None]


def test_explain_tells_of_absence():
    told = explain(plan(f"SELECT v FROM a WHERE v > 3 AND {MISSING}"))
    absence = 'Absence of b: a.CAST("k" AS BIGINT) = b.k over a SLIDING 0 SECOND, b SLIDING 1 MINUTE'
    assert f"{absence}, given when the window is over" in told
    assert "Select v > 3" in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"SELECT v FROM LAST_ROWS(a, 5) AS a WHERE {MISSING}", "or SLIDING over one"),
        (f"SELECT name FROM t AS a WHERE {MISSING}", "or SLIDING over one"),
        (
            "SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
            "a stream is asked over a window of time",
        ),
        (
            "SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM LAST_ROWS(b, 3) AS b WHERE b.k = a.k)",
            "in place of LAST_ROWS",
        ),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = a.k AND a.v < 3)",
            "a.v < 3 is about the reading outside; write it outside",
        ),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} JOIN t ON t.k = b.k WHERE b.k = a.k)",
            "a condition asks one stream",
        ),
        (f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = c.k)", "unknown table 'c'"),
        (f"SELECT b.v FROM a WHERE {MISSING}", "unknown table 'b'"),
        (f"SELECT v FROM a WHERE v > 3 OR {MISSING}", "stands in WHERE, as a condition of its own"),
        (f"SELECT v, {MISSING} AS m FROM a", "stands in WHERE, as a condition of its own"),
        (f"SELECT k FROM a WHERE (k, v) NOT IN (SELECT k, v FROM {SLIDING})", "write NOT EXISTS"),
        (f"SELECT k FROM a WHERE k IN (SELECT k, v FROM {SLIDING})", "which has 2: name them"),
        (f"SELECT k FROM a WHERE k NOT IN (SELECT k FROM {SLIDING} WHERE b.v < a.v)", "write NOT EXISTS"),
        ("SELECT k FROM a WHERE EXISTS (SELECT 1 FROM TUMBLE(b, ts, INTERVAL '1' HOUR) AS b)", "over a window of time"),
        ("SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.ts > a.ts)", "over a window of time"),
        (
            f"SELECT a.k FROM t LEFT JOIN SLIDING(a, ts, INTERVAL '1' DAY) AS a ON a.k = t.k WHERE {MISSING}",
            "may have no row there",
        ),
        (
            "SELECT v FROM a WHERE EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '1' DAY) AS a)",
            "two relations are called",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(text, told):
    with pytest.raises(InputError, match=told):
        plan(text)


def test_options_of_joins_are_refused():
    with pytest.raises(InputError, match="a view without a join has no option 'on_overload'"):
        plan(f"SELECT v FROM a WHERE {MISSING}", " WITH (on_overload='shed', memory_rows='5')")
