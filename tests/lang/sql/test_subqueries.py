from collections import Counter
from datetime import datetime, timedelta
from functools import cache

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.build.explain import explain
from skerry.catalog import Catalog
from skerry.errors import CatalogError, SourceError
from skerry.lang.sql import Session
from skerry.plan.derived_table import DerivedTable
from tests.lang.sql.plans import Sources
from tests.lang.sql.running import run_view

SOURCES = Sources(
    """
CREATE SOURCE a (k INT, ts TIMESTAMP, v DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='a.csv');
CREATE SOURCE b (k BIGINT, ts TIMESTAMP, w DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='b.csv');
CREATE TABLE t (k INT, x DOUBLE) WITH (connector='file', path='t.csv');
CREATE TABLE u (name INT, y DOUBLE) WITH (connector='file', path='u.csv');
"""
)
SCHEMAS = {
    "a": pa.schema({"k": pa.int32(), "ts": pa.timestamp("us"), "v": pa.float64()}),
    "b": pa.schema({"k": pa.int64(), "ts": pa.timestamp("us"), "w": pa.float64()}),
    "t": pa.schema({"k": pa.int32(), "x": pa.float64()}),
    "u": pa.schema({"name": pa.int32(), "y": pa.float64()}),
}
OF_TABLES = [
    "SELECT k, v FROM a WHERE k IN (SELECT k FROM t)",
    "SELECT k, v FROM a WHERE k NOT IN (SELECT k FROM t)",
    "SELECT k, v FROM a WHERE k NOT IN (SELECT k FROM t WHERE k IS NOT NULL) AND v > 2",
    "SELECT k, v FROM a WHERE v IN (SELECT x FROM t WHERE t.k = a.k)",
    "SELECT k, v FROM a WHERE v NOT IN (SELECT x FROM t WHERE t.k = a.k)",
    "SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM t WHERE t.k = a.k AND t.x > 3)",
    "SELECT k, v FROM a WHERE NOT EXISTS (SELECT 1 FROM t JOIN u ON u.name = t.k WHERE t.k = a.k AND u.y < 5)",
    "SELECT k, v FROM a WHERE v > 5 OR NOT k IN (SELECT k FROM t) OR EXISTS (SELECT 1 FROM u WHERE y = v)",
    "SELECT k, (v > 3) = (k IN (SELECT name FROM u)) AS same FROM a WHERE EXISTS (SELECT * FROM t)",
    "SELECT k, CASE WHEN k NOT IN (SELECT k FROM t) THEN 'new' ELSE 'known' END AS word FROM a",
    "SELECT k, v - (SELECT MAX(x) FROM t) AS d, (SELECT COUNT(*) FROM u WHERE name = a.k) AS n FROM a",
    "SELECT k FROM a WHERE v > (SELECT AVG(x) FROM t WHERE t.k = a.k) AND v < (SELECT y FROM u ORDER BY y LIMIT 1)",
    "SELECT k FROM a WHERE (k, v) IN (SELECT name, y FROM u) AND k = ANY (SELECT k FROM t)",
    "SELECT k FROM a WHERE v <> ALL (SELECT x FROM t)",
    "SELECT k FROM a WHERE k IN (SELECT k FROM t GROUP BY k HAVING COUNT(*) > 1 UNION ALL SELECT name FROM u)",
    "WITH best AS (SELECT k, MAX(x) AS x FROM t GROUP BY k) SELECT a.k, a.v, best.x FROM a JOIN best ON best.k = a.k",
    "SELECT a.k, z.n FROM a LEFT JOIN (SELECT k, COUNT(*) AS n FROM t GROUP BY k) AS z ON z.k = a.k WHERE a.v > 2",
    "SELECT * FROM a WHERE k IN (SELECT k FROM t WHERE x > (SELECT MIN(y) FROM u))",
    "SELECT v FROM a WHERE EXISTS (SELECT 1 FROM t WHERE t.k = a.k AND x < v) AND NOT EXISTS (FROM u WHERE y > v)",
    "SELECT k, v FROM a WHERE k IN (SELECT name FROM u WHERE y > v) OR NOT EXISTS (SELECT 1 FROM t WHERE t.x <> a.v)",
    "SELECT k, v FROM a SEMI JOIN t ON t.k = a.k AND t.x > 2 ANTI JOIN u ON u.name = a.k",
    "SELECT k, (SELECT n FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) AS g WHERE g.k = a.k) AS n FROM a",
    "SELECT a.k, g.word FROM a JOIN (VALUES (0, 'none'), (1, 'one')) AS g(n, word) ON g.n = a.k",
]
NEAR = "SLIDING(b, ts, INTERVAL '1' MINUTE)"
OF_STREAMS = [
    "SELECT k, ts, v FROM a WHERE EXISTS (SELECT 1 FROM {b} AS b WHERE b.k = a.k {within})",
    "SELECT v FROM a WHERE v > 2 AND NOT EXISTS (SELECT 1 FROM {b} AS b WHERE a.k = b.k AND w > 3 {within}) AND k > 0",
    "SELECT k, v FROM a WHERE k IN (SELECT k FROM {b} AS b WHERE w < 7 {within})",
    "SELECT k, v FROM a WHERE k NOT IN (SELECT k FROM {b} AS b WHERE TRUE {within})",
    "SELECT k, v FROM a WHERE v NOT IN (SELECT w FROM {b} AS b WHERE b.k = a.k {within})",
    "SELECT k, v FROM a WHERE EXISTS (SELECT 1 FROM {b} AS b WHERE b.k = a.k AND b.w > a.v AND b.ts < a.ts {within})",
    "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k = a.k AND b.ts BETWEEN a.ts - INTERVAL 90 SECOND AND "
    "a.ts + INTERVAL 20 SECOND) AND NOT EXISTS (SELECT 1 FROM {b} AS c WHERE c.w = a.v {within_c})",
    "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM {b} AS b WHERE b.w IN (SELECT x FROM t) AND b.k = a.k {within}) "
    "AND k IN (SELECT name FROM u)",
    "SELECT k FROM a WHERE EXISTS (SELECT 1 FROM {b} AS b WHERE TRUE {within})",
    "SELECT k FROM a SEMI JOIN {b} AS b ON b.k = a.k AND b.w < 8 {within}",
]
moments = st.integers(0, 300).map(lambda second: datetime(2026, 1, 1) + timedelta(seconds=second))
keys, numbers = st.integers(0, 2) | st.none(), st.integers(0, 9).map(float) | st.none()
bases = st.fixed_dictionaries(
    {
        "a": st.lists(st.fixed_dictionaries({"k": keys, "ts": moments, "v": numbers}), max_size=8),
        "b": st.lists(st.fixed_dictionaries({"k": keys, "ts": moments, "w": numbers}), max_size=8),
        "t": st.lists(st.fixed_dictionaries({"k": keys, "x": numbers}), max_size=4),
        "u": st.lists(st.fixed_dictionaries({"name": keys, "y": numbers}), max_size=3),
    }
)


@cache
def plan_once(query):
    return SOURCES.planned(query)


def ask_duckdb(query, rows):
    with duckdb.connect() as connection:
        for name, given_rows in rows.items():
            connection.register(name, pa.Table.from_pylist(given_rows, SCHEMAS[name]))
        return Counter(connection.sql(query).fetchall())


@settings(max_examples=25)
@given(rows=bases, query=st.sampled_from(OF_TABLES))
def test_questions_to_tables_are_answered_as_by_duckdb(rows, query):
    found = Counter(tuple(row.values()) for row in run_view(plan_once(query), rows))
    assert found == ask_duckdb(query, rows)


@settings(max_examples=25)
@given(rows=bases, query=st.sampled_from(OF_STREAMS))
def test_questions_to_streams_are_answered_as_by_duckdb(rows, query):
    plan = plan_once(query.format(b=NEAR, within="", within_c=""))
    found = Counter(tuple(row.values()) for row in run_view(plan, rows))
    within = "AND {0}.ts BETWEEN a.ts - INTERVAL 1 MINUTE AND a.ts"
    theirs = query.format(b="b", within=within.format("b"), within_c=within.format("c"))
    assert found == ask_duckdb(theirs, rows)


def test_a_question_to_a_table_runs_beside_the_source():
    plan = SOURCES.planned("SELECT COUNT(*) AS n FROM TUMBLE(a, ts, INTERVAL '1' MINUTE) WHERE k IN (SELECT k FROM t)")
    (feed,) = cut_view(plan).feeds
    assert feed.partial is not None
    (table,) = feed.tables
    assert isinstance(table, DerivedTable)
    assert [base.name for base in plan.named_tables] == ["t"]
    assert "in a query over t, read again when it changes" in explain(plan)


def test_what_a_view_asks_for_cannot_be_dropped():
    session = Session(Catalog.in_memory())
    session.execute("CREATE TABLE t (k INT) WITH (connector='file', path='t.csv')")
    session.execute("CREATE SOURCE a (k INT) WITH (connector='file', path='a.csv')")
    session.execute("CREATE MATERIALIZED VIEW v AS SELECT k FROM a WHERE k IN (SELECT k FROM t)")
    with pytest.raises(CatalogError, match="'t' is read by v"):
        session.execute("DROP TABLE t")


def test_a_value_of_several_rows_fails_as_in_sql():
    plan = SOURCES.planned("SELECT (SELECT x FROM t WHERE t.k = a.k) AS x FROM a")
    with pytest.raises(SourceError, match=r"a query over t fails: .* found several rows"):
        run_view(plan, {"a": [], "t": [{"k": 1, "x": 1.0}, {"k": 1, "x": 2.0}]})


def test_equal_questions_are_one_table():
    plan = SOURCES.planned("SELECT k IN (SELECT k FROM t) AS one, v IN (SELECT k FROM t) AS two FROM a")
    assert len({table.name for table in plan.tables}) == 2


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT k FROM a WHERE v > (SELECT x FROM t)", "write an aggregate, such as MAX(x), or LIMIT 1"),
        ("SELECT k FROM a WHERE v > (SELECT x, k FROM t)", "has one column"),
        ("SELECT k FROM a WHERE v > (SELECT MAX(x) FROM t WHERE t.x < a.v)", "t.x < a.v is something else"),
        ("SELECT k FROM a WHERE k IN (SELECT k FROM t WHERE t.x = a.v LIMIT 2)", "LIMIT in a subquery"),
        ("SELECT k FROM a WHERE k IN (SELECT random() FROM t)", "the function 'random' is not available"),
        ("SELECT k FROM a WHERE k IN (SELECT k FROM read_csv('/etc/passwd'))", "READ_CSV is not available as a window"),
        ("SELECT k FROM a WHERE k IN (SELECT spede FROM t)", "spede"),
        ("SELECT k FROM a WHERE k IN (SELECT k FROM nosuch)", "unknown stream 'nosuch'"),
        ("SELECT k FROM a WHERE v > ALL (SELECT x FROM t)", "known are x = ANY"),
        (
            "SELECT k FROM GATHER(a, key => k, within => INTERVAL '1' MINUTE) AS g WHERE k IN (SELECT k FROM t)",
            "GATHER",
        ),
        (
            "SELECT v FROM SLIDING(a, ts, INTERVAL '1' DAY) AS a JOIN SLIDING(b, ts, INTERVAL '1' DAY) AS b USING (k) "
            "WHERE EXISTS (SELECT 1 FROM t WHERE t.k = a.k AND t.x = b.w)",
            "two relations outside",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused(query, told):
    assert told in SOURCES.refused(query)
