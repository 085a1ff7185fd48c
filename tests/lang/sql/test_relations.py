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
from skerry.catalog import Sensor
from skerry.plan.aggregate import Aggregate
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.sensors.demand import SourceDemand
from tests.lang.sql.plans import Sources
from tests.lang.sql.running import run_view

SOURCES = Sources(
    """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='road.csv');
CREATE SOURCE air (sensor VARCHAR, ts TIMESTAMP, level BIGINT, WATERMARK FOR ts AS ts)
WITH (connector='file', path='air.csv');
"""
)
MINUTE = "INTERVAL '1' MINUTE"
BUCKET = "time_bucket(INTERVAL 1 MINUTE, ts)"


def kinds(node):
    """The nodes from the root down, of a plan that is a chain."""
    found = [type(node)]
    while node.inputs:
        (node,) = node.inputs
        found.append(type(node))
    return found


def test_a_selection_over_a_selection_is_one():
    query = "SELECT s, v FROM (SELECT sensor AS s, speed AS v FROM road WHERE speed < 30) AS x WHERE s = 'a' AND v > 2"
    plan = SOURCES.planned(query)
    assert kinds(plan.root) == [Project, Select, Scan]
    assert cut_view(plan).only_selects


def test_what_may_fail_stays_behind_what_guards_it():
    query = "WITH n AS (SELECT sensor FROM road WHERE sensor ~ '[0-9]+') SELECT sensor FROM n WHERE sensor::INT > 3"
    assert kinds(SOURCES.planned(query).root) == [Project, Select, Select, Scan]


def test_what_is_computed_may_fail_before_it_is_used():
    query = "SELECT COALESCE(n, 0) AS n FROM (SELECT CAST(sensor AS INT) AS n FROM road) AS x"
    assert run_view(SOURCES.planned(query), {"road": [{"sensor": "a", "ts": 0}]}) == [{"n": 0}]


def test_an_aggregate_over_a_filtering_subquery_folds_beside_the_source():
    query = f"WITH slow AS (SELECT * FROM road WHERE speed < 30) SELECT COUNT(*) AS n FROM TUMBLE(slow, ts, {MINUTE})"
    (feed,) = cut_view(SOURCES.planned(query)).feeds
    assert isinstance(feed.partial, Aggregate)
    assert kinds(SOURCES.planned(query).root) == [Project, Aggregate, Project, Select, Scan]


def test_a_name_is_known_in_its_scope_alone():
    inner = "SELECT sensor FROM (WITH road AS (SELECT sensor FROM air) SELECT sensor FROM road) AS x"
    plan = SOURCES.planned(f"{inner} UNION ALL SELECT sensor FROM road")
    assert [source.name for source in plan.sources] == ["air", "road"]
    assert "unknown stream 'x'" in SOURCES.refused("SELECT s.sensor FROM (SELECT sensor FROM air) AS x JOIN x AS s")


def test_columns_can_be_renamed_where_a_relation_is_named():
    assert SOURCES.planned(
        "WITH r(a, b) AS (SELECT sensor, ts, speed FROM road) SELECT * FROM r"
    ).root.schema.names == [
        "a",
        "b",
        "speed",
    ]
    assert SOURCES.planned("SELECT q FROM (SELECT sensor FROM air) AS x(q)").root.schema.names == ["q"]


def test_explain_draws_the_parts_of_a_union():
    drawn = explain(SOURCES.planned("SELECT sensor FROM road WHERE speed < 3 UNION ALL SELECT sensor FROM air"))
    assert drawn.splitlines() == [
        "view v",
        "  Union of 2 parts",
        "    -- route: beside the source, no shuffle",
        "    Project sensor",
        "      Select speed < 3",
        "        Scan road (file: path = 'road.csv'; watermark ts - 0 SECOND)",
        "    -- route: beside the source, no shuffle",
        "    Project sensor",
        "      Scan air (file: path = 'air.csv'; watermark ts - 0 SECOND)",
    ]


def test_an_aggregate_over_a_union_is_spread_over_buckets():
    union = "SELECT sensor, ts FROM road UNION ALL SELECT sensor, ts FROM air"
    query = f"SELECT sensor, COUNT(*) AS n FROM TUMBLE(({union}), ts, {MINUTE}) GROUP BY sensor"
    cut = cut_view(SOURCES.planned(query))
    assert cut.is_spread
    assert [(feed.name, feed.keys, bool(feed.partial)) for feed in cut.feeds] == [
        ("0:road", ("sensor",), True),
        ("1:air", ("sensor",), True),
    ]


def test_what_a_subquery_asks_of_sensors_is_their_demand():
    query = (
        "WITH near AS (SELECT sensor, ts, speed AS v FROM road WHERE sensor = 'a'), "
        "u AS (SELECT sensor, ts, v FROM near WHERE v < 30 UNION ALL SELECT sensor, ts, level FROM air) "
        f"SELECT COUNT(*) AS n FROM TUMBLE(u, ts, {MINUTE}) WHERE v > 5"
    )
    plan = SOURCES.planned(query)
    road = next(source for source in plan.sources if source.name == "road")
    demand = SourceDemand(road, [Sensor("a", "road", "loop"), Sensor("b", "road", "loop")])
    demand.add(plan)
    ((low, high),) = demand.setting("a").ranges["speed"]
    assert 5 < low < 5.1
    assert 29.9 < high < 30
    assert demand.setting("b").asleep


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT sensor FROM road UNION ALL SELECT sensor, ts FROM air", "the first has 1, this one 2"),
        ("SELECT ts FROM road UNION ALL SELECT level FROM air", "column 'ts' of UNION ALL is TIMESTAMP and BIGINT"),
        ("SELECT [level] AS l FROM air UNION ALL SELECT {'a': 1} FROM air", "column 'l' of UNION ALL is "),
        ("SELECT ts FROM road UNION ALL SELECT ts FROM air ORDER BY ts", "ORDER of a UNION ALL is not available"),
        ("SELECT sensor FROM road UNION SELECT sensor FROM air", "write UNION ALL"),
        ("SELECT sensor FROM road UNION ALL BY NAME SELECT sensor FROM air", "goes by position"),
        (
            f"SELECT sensor, COUNT(*) AS n FROM (SELECT * FROM TUMBLE(road, ts, {MINUTE})) AS w GROUP BY sensor",
            "window",
        ),
        ("SELECT DISTINCT ON (sensor) sensor FROM road", "QUALIFY ROW_NUMBER()"),
        ("SELECT DISTINCT sensor FROM road", "would keep all that ever came"),
        (f"SELECT DISTINCT *, 1 AS one FROM TUMBLE(road, ts, {MINUTE})", "needs the columns by name"),
        (f"SELECT DISTINCT COUNT(*) AS n FROM TUMBLE(road, ts, {MINUTE}) GROUP BY sensor", "all of GROUP BY"),
        ("WITH r(a, b) AS (SELECT sensor FROM road) SELECT a FROM r", "2 names for 1 columns"),
        ("WITH r AS (SELECT spede FROM road) SELECT a FROM r", "unknown column 'spede'"),
        ("WITH r AS (SELECT sensor FROM road) SELECT speed FROM r", "unknown column 'speed'; r has sensor"),
    ],
)
def test_what_cannot_be_nested_is_refused(query, told):
    assert told in SOURCES.refused(query)


PAIRS = [
    "SELECT a, v * 2 AS w FROM (SELECT sensor AS a, speed AS v FROM road WHERE speed > 2) AS x WHERE v < 9",
    "WITH r AS (SELECT * FROM road WHERE segment > 0), s AS (SELECT sensor, speed FROM r) FROM s WHERE speed < 5",
    "SELECT sensor, segment FROM road UNION ALL SELECT sensor, level FROM air UNION ALL SELECT sensor, 7 FROM road",
    "SELECT s, v FROM (SELECT sensor AS s, speed AS v FROM road UNION ALL SELECT sensor, level FROM air) WHERE v > 3",
    "SELECT sensor, NULL AS n FROM road UNION ALL SELECT NULL, ts FROM air",
]
WINDOWED = [
    "WITH u AS (SELECT sensor, ts, speed AS v FROM road UNION ALL SELECT sensor, ts, level FROM air) "
    "SELECT sensor, {start} AS w, COUNT(*) AS n, SUM(v) AS s FROM {u} WHERE v > 1 GROUP BY sensor, {start}",
    "WITH u AS (SELECT * FROM road WHERE segment > 1) SELECT segment, {start} AS w, MAX(speed) AS m FROM {u} "
    "GROUP BY segment, {start} HAVING COUNT(*) > 1",
    "SELECT DISTINCT sensor, segment % 2 AS odd, {start} AS w FROM {road} WHERE speed > 3",
    "WITH u AS (SELECT DISTINCT sensor, {start} AS ts FROM {road}) SELECT {start} AS w, COUNT(*) FROM {u} GROUP BY 1",
    "WITH u AS (SELECT sensor AS s, speed, {start} AS w FROM {road}), v AS (SELECT * FROM u WHERE speed > 2) "
    "SELECT s, w, COUNT(*) AS n FROM v GROUP BY s, w",
    "SELECT window_start, MAX(speed) FROM (SELECT sensor, speed, {start} AS window_start FROM {road}) AS x GROUP BY 1",
]
"""With windows in place of streams, and the start of the window."""
moments = st.integers(0, 300).map(lambda second: datetime(2026, 1, 1) + timedelta(seconds=second))
sensors, numbers = st.sampled_from(["a", "b", None]), st.integers(0, 10)
roads = st.fixed_dictionaries(
    {"sensor": sensors, "ts": moments, "segment": st.integers(0, 3), "speed": numbers.map(float) | st.none()}
)
airs = st.fixed_dictionaries({"sensor": sensors, "ts": moments, "level": numbers | st.none()})


@cache
def plan_once(query):
    return SOURCES.planned(query)


def ask_duckdb(query, rows, plans):
    with duckdb.connect() as connection:
        for name, given in rows.items():
            schema = next(source.schema for source in plans if source.name == name)
            connection.register(name, pa.Table.from_pylist(given, schema))
        return Counter(connection.sql(query).fetchall())


@settings(max_examples=30)
@given(road=st.lists(roads, max_size=12), air=st.lists(airs, max_size=8), query=st.sampled_from([*PAIRS, *WINDOWED]))
def test_nested_queries_answer_as_duckdb_does(road, air, query):
    windows = {name: f"TUMBLE({name}, ts, {MINUTE})" for name in ("u", "road")}
    plan, rows = plan_once(query.format(start="window_start", **windows)), {"road": road, "air": air}
    found = Counter(tuple(row.values()) for row in run_view(plan, rows))
    both = plan_once("SELECT sensor FROM road UNION ALL SELECT sensor FROM air").sources
    assert found == ask_duckdb(query.format(start=BUCKET, u="u", road="road"), rows, both)
