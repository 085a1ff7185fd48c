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


def test_columns_are_computed_before_rows_wait():
    found = plan(
        f"SELECT v + 1 AS more, ts FROM SLIDING(a, ts, INTERVAL '5' SECOND) AS a WHERE v > 3 AND ({MISSING})"
    ).root
    assert isinstance(found, Absence)
    assert found.schema.names == ["more", "ts"]
    assert [side.schema.names for side in found.sides] == [["more", "ts", "#time", "#0"], ["ts", "k"]]
    assert [side.span_us for side in found.sides] == [5_000_000, 60_000_000]


def test_keys_are_compared_in_a_common_type():
    kinds = [side.schema.field(side.keys[0]).type for side in plan(f"SELECT v FROM a WHERE {MISSING}").root.sides]
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
        (f"SELECT v FROM a WHERE {MISSING} AND {MISSING}", "a view has one NOT EXISTS"),
        (
            f"SELECT COUNT(*) AS n FROM TUMBLE(a, ts, INTERVAL '1' SECOND) AS a WHERE {MISSING}",
            "beside an aggregate is not available",
        ),
        (f"SELECT a.v FROM SLIDING(a, ts, INTERVAL '1' SECOND) AS a JOIN t USING (k) WHERE {MISSING}", "beside a join"),
        (f"SELECT v FROM TUMBLE(a, ts, INTERVAL '1' SECOND) AS a WHERE {MISSING}", "or SLIDING over one"),
        (f"SELECT v FROM LAST_ROWS(a, 5) AS a WHERE {MISSING}", "or SLIDING over one"),
        (f"SELECT name FROM t AS a WHERE {MISSING}", "or SLIDING over one"),
        ("SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k)", "a stream is joined over a window"),
        (
            "SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM LAST_ROWS(b, 3) AS b WHERE b.k = a.k)",
            "in place of LAST_ROWS",
        ),
        ("SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM t WHERE t.k = a.k)", "a table is not available there"),
        (f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING})", "NOT EXISTS says what must be equal"),
        (f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.v > 3)", "share a key"),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = a.k AND a.v < b.v)",
            "a.v < b.v is something else",
        ),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = a.k AND a.v < 3)",
            "a.v < 3 is something else",
        ),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT k FROM {SLIDING} WHERE b.k = a.k LIMIT 1)",
            "a reading of one stream",
        ),
        (
            f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} JOIN t ON t.k = b.k WHERE b.k = a.k)",
            "a reading of one stream",
        ),
        (f"SELECT v FROM a WHERE NOT EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = c.k)", "unknown table 'c'"),
        (f"SELECT b.v FROM a WHERE {MISSING}", "unknown table 'b'"),
        (f"SELECT v FROM a WHERE v > 3 OR {MISSING}", "cannot stand here"),
        (f"SELECT v FROM a WHERE EXISTS (SELECT 1 FROM {SLIDING} WHERE b.k = a.k)", "cannot stand here"),
    ],
)
def test_what_cannot_be_asked_is_refused(text, told):
    with pytest.raises(InputError, match=told):
        plan(text)


def test_options_of_joins_are_refused():
    with pytest.raises(InputError, match="a view without a join has no option 'on_overload'"):
        plan(f"SELECT v FROM a WHERE {MISSING}", " WITH (on_overload='shed', memory_rows='5')")
