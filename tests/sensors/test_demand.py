import re

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from skerry.catalog import Catalog, Sensor, Source, Subscription
from skerry.errors import CatalogError, InputError
from skerry.lang.sql import Session
from skerry.model.expression import Expression
from skerry.model.time import seconds
from skerry.plan.left_lookup import LeftLookup
from skerry.plan.lookup import Lookup
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select
from skerry.plan.view import ViewPlan
from skerry.sensors.demand import SourceDemand, compute_demand
from skerry.sensors.messages import Setting
from skerry.sensors.whose import FACTS
from tests import oracles
from tests.index.predicates import SCHEMA, SPECIAL, batches, bind, predicates, true_rows

ROAD = """CREATE SOURCE road (i INT, l BIGINT, d DOUBLE, f REAL, t TIMESTAMP, b BOOLEAN, s VARCHAR,
WATERMARK FOR t AS t) WITH (connector='mqtt', topic='x/{s}/data'{options});"""
SHAPES = {
    "selection": "SELECT i, d FROM road WHERE {}",
    "aggregate": "SELECT i, AVG(d) AS m FROM TUMBLE(road, t, INTERVAL '30' SECOND) WHERE {} GROUP BY i, window_start",
    "join": "SELECT a.i, b.d FROM SLIDING(road, t, INTERVAL '1' SECOND) AS a JOIN SLIDING(road, t, INTERVAL '1' SECOND)"
    " AS b ON a.i = b.i WHERE {}",
    "absence": "SELECT a.i, a.d FROM SLIDING(road, t, INTERVAL '1' SECOND) AS a WHERE NOT EXISTS (SELECT 1 FROM"
    " SLIDING(road, t, INTERVAL '1' SECOND) AS b WHERE a.i = b.i) AND {}",
    "over": "SELECT i, d - LAG(d) OVER (PARTITION BY i ORDER BY t) AS m FROM road WHERE {}",
    "subscription": "{}",
}
SENSORS = [Sensor(name, "road", "loop") for name in SPECIAL["s"]]


def road(script="", options=""):
    """A session with the source, and views over it."""
    session = Session(Catalog.in_memory())
    session.execute(ROAD.replace("{options}", options) + script)
    return session


def demand_of(session, subscriptions=(), sensors=SENSORS, **more):
    found = compute_demand(session.plans(), subscriptions, session.catalog.sources(), sensors, **more)
    return found["road"]


def asked(*views, options=""):
    return demand_of(road("".join(f"CREATE MATERIALIZED VIEW v{n} {text};" for n, text in enumerate(views)), options))


def over_one_side(shape, text):
    """The predicate about the stream ``a``, where there are two."""
    return re.sub(r"\b([ildftbs])\b(?!')", r"a.\1", text) if shape in ("join", "absence") else text


@st.composite
def queries(draw):
    """Queries by name: their shape, and the predicate that stands directly over the source."""
    found = draw(st.lists(st.tuples(st.sampled_from([*SHAPES, "over a view"]), predicates()), min_size=1, max_size=4))
    return {f"q{number}": each for number, each in enumerate(found)}


def make(name, shape, predicate):
    """A query as a subscription, or as the plan of a view."""
    if shape == "subscription":
        return Subscription(name, "road", predicate)
    if shape == "over a view":
        inner = f"CREATE MATERIALIZED VIEW inner_view AS SELECT i AS x, d AS y, d + 1 AS z FROM road WHERE {predicate};"
        return road(
            f"{inner} CREATE MATERIALIZED VIEW {name} AS SELECT x FROM inner_view WHERE y < 1.5 AND z < 9"
        ).plan(name)
    text = SHAPES[shape].format(over_one_side(shape, predicate))
    return road(f"CREATE MATERIALIZED VIEW {name} AS {text}").plan(name)


def depends(shape, predicate, batch):
    """The rows of a batch that a query's answers depend on, and the columns that it reads of them."""
    if shape in ("join", "absence"):  # the other side has no condition
        return set(range(batch.num_rows)), {"i", "d"}
    if shape == "over a view":
        return true_rows(bind(f"({predicate}) AND d < 1.5 AND d + 1 < 9"), batch), {"i", "d"}
    return true_rows(bind(predicate), batch), {"i", "d"} if shape != "subscription" else set(SCHEMA.names)


@given(asked=queries(), batch=batches())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_reading_that_an_answer_depends_on_is_sent(asked, batch):
    demand, source = None, road().catalog.sources()[0]
    demand = SourceDemand(source, SENSORS)
    try:
        for name, (shape, predicate) in asked.items():
            demand.add(make(name, shape, predicate))
    except InputError:
        assume(False)
    readings = batch.to_pylist()
    for shape, predicate in asked.values():
        rows, columns = depends(shape, predicate, batch)
        for row in rows:
            sensor = readings[row]["s"]
            if sensor is not None:
                setting = demand.setting(sensor)
                assert oracles.admits(setting, readings[row])
                assert columns | {"s", "t"} <= set(setting.columns)


@given(asked=queries(), batch=batches())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_removing_a_query_raises_nothing_and_leaves_what_the_others_want(asked, batch):
    source = road().catalog.sources()[0]
    demand = SourceDemand(source, SENSORS)
    try:
        made = {name: make(name, *query) for name, query in asked.items()}
        for query in made.values():
            demand.add(query)
    except InputError:
        assume(False)
    before, gone = demand.settings(), demand.queries[0]
    concerned = demand.list_concerned(gone)
    demand.remove(gone)
    fresh = SourceDemand(source, SENSORS)
    for name, query in made.items():
        if name != gone.split()[-1]:
            fresh.add(query)
    assert demand.settings() == fresh.settings()
    for sensor, after in demand.settings().items():
        assert sensor in concerned or after == before[sensor]
        assert_not_raised(before[sensor], after, batch.to_pylist())


def assert_not_raised(before: Setting, after: Setting, readings) -> None:
    assert after.asleep or set(after.columns) <= set(before.columns)
    assert before.asleep <= after.asleep
    if all(len(spans) < 8 for spans in before.ranges.values()):  # joined intervals may be joined otherwise
        for reading in readings:
            assert oracles.admits(before, reading) or not oracles.admits(after, reading)


def test_columns_are_those_that_the_plan_reads_and_sensor_and_time():
    demand = asked("AS SELECT i + l AS x FROM road WHERE b")
    assert demand.setting("a").columns == ("i", "l", "t", "b", "s")


def test_a_sensor_that_no_query_concerns_sleeps():
    demand = asked("AS SELECT d FROM road WHERE s IN ('a', 'b') AND d < 3 OR s = 'ab'")
    assert [name for name, each in demand.settings().items() if not each.asleep] == ["a", "ab", "b"]
    assert demand.setting("a").ranges == {"d": ((None, pytest.approx(3.0)),)}
    assert demand.setting("ab").ranges == {}


@pytest.mark.parametrize(
    ("predicate", "awake"),
    [
        ("s LIKE 'abcd%'", {"abcdefg", "abcdefgh", "abcdefghi"}),
        ("s LIKE '%b'", {"ab", "b"}),
        ("upper(s) = 'ABD' OR s LIKE '%i'", {"abd", "abcdefghi"}),
        ("NOT (s LIKE '%b' OR d < 3) AND s < 'b' AND length(s) = 2", {"a\0"}),
        ("s || 'x' = 'bx'", set(SPECIAL["s"])),  # not understood: concerns all
    ],
)
def test_which_sensors_a_predicate_concerns(predicate, awake):
    demand = asked(f"AS SELECT d FROM road WHERE {predicate}")
    assert {name for name, each in demand.settings().items() if not each.asleep} == awake


def test_a_sensor_that_is_not_known_has_a_setting():
    demand = asked("AS SELECT d FROM road WHERE s LIKE '%new'")
    assert (demand.setting("brandnew").asleep, demand.setting("old").asleep) == (False, True)


def test_ranges_are_the_union_of_what_queries_want():
    demand = asked("AS SELECT d FROM road WHERE i BETWEEN 3 AND 5", "AS SELECT d FROM road WHERE i > 8")
    assert demand.setting("a").ranges == {"i": ((3.0, 5.0), (9.0, None))}
    demand.remove("view v1")
    assert demand.setting("a").ranges == {"i": ((3.0, 5.0),)}


def test_a_query_without_bounds_takes_them_from_all():
    demand = asked("AS SELECT d FROM road WHERE i BETWEEN 3 AND 5", "AS SELECT i FROM road")
    assert demand.setting("a").ranges == {}


def test_intervals_are_few_and_the_nearest_are_joined():
    listed = ", ".join(map(str, [0, 2, 100, 200, 300, 400, 500, 600, 700]))
    demand = asked(f"AS SELECT d FROM road WHERE i IN ({listed})")
    assert demand.setting("a").ranges["i"][:2] == ((0.0, 2.0), (100.0, 100.0))
    assert len(demand.setting("a").ranges["i"]) == 8


@pytest.mark.parametrize("shape", ["absence"])
def test_what_is_absent_needs_every_reading_of_its_sensors(shape):
    demand = asked("AS " + SHAPES[shape].format("a.d < 3"))
    assert demand.setting("a").ranges == {}


def test_late_readings_are_wanted_whole():
    demand = asked("WITH (late_to='late') AS SELECT d FROM road WHERE s = 'a' AND d < 3")
    assert demand.setting("b").columns == tuple(SCHEMA.names)
    assert demand.setting("b").ranges == {}


def test_the_shortest_sample_period_counts_and_that_of_the_source_where_a_view_has_none():
    views = [
        "WITH (sample_period='10s') AS SELECT d FROM road WHERE s = 'a'",
        "WITH (sample_period='250ms') AS SELECT d FROM road WHERE s IN ('a', 'b')",
    ]
    demand = asked(*views, "AS SELECT d FROM road WHERE s = 'ab'", options=", sample_period='2s'")
    periods = [demand.setting(name).sample_period_us for name in ("a", "b", "ab")]
    assert periods == [250_000, 250_000, seconds(2)]
    demand.remove("view v1")
    assert demand.setting("a").sample_period_us == seconds(10)
    assert asked("AS SELECT d FROM road").setting("a").sample_period_us is None


def test_a_float_that_is_rounded_on_arrival_is_sent():
    demand = asked("AS SELECT d FROM road WHERE f <= 0.1")
    value = 0.1 + 3e-9  # becomes the same FLOAT as 0.1
    assert pa.scalar(value, pa.float32()) == pa.scalar(0.1, pa.float32())
    assert oracles.admits(demand.setting("a"), {"f": value})


def test_columns_are_those_that_a_sensor_fills():
    session = road("CREATE MATERIALIZED VIEW v AS SELECT * FROM road")
    demand = demand_of(session, sensors=[Sensor("a", "road", "loop", columns=("s", "t", "d"))])
    assert demand.setting("a").columns == ("d", "t", "s")


def test_a_query_is_counted_once():
    demand = asked("AS SELECT d FROM road")
    with pytest.raises(CatalogError, match="view v0 is counted already"):
        demand.add_pieces("view v0", [])
    with pytest.raises(CatalogError, match="view w is not counted; known are view v0"):
        demand.remove("view w")


def test_a_source_without_sensors_has_no_demand():
    source = Source("road", SCHEMA, "mqtt")
    assert compute_demand([], [Subscription("q", "road", "i > 1")], [source], []) == {}


CATALOG = Source("catalog:sensors", FACTS, "catalog", {"table": "sensors"}, is_table=True)


def looked_up(kind, predicate, *more):
    """The sensors that are awake for a view of readings beside their sensors in the catalogue, as ``k``."""
    source = road().catalog.sources()[0]
    keys = ((Expression.of("s", pa.string()), Expression.of("name", pa.string())),)
    node = Select(kind(Scan(source), CATALOG, "k", keys), Expression(predicate, pa.bool_()))
    sensors = [Sensor("a", "road", "loop", 37.9), Sensor("b", "road", "air", 37.1), *more]
    demand = SourceDemand(source, sensors)
    demand.add(ViewPlan("v", Project(node, (("d", Expression.of("d", pa.float64())),))))
    return {name for name, setting in demand.settings().items() if not setting.asleep}


def test_what_the_catalogue_knows_of_a_sensor_excludes_it():
    assert looked_up(Lookup, '"k.kind" = \'loop\' AND "d" < 3') == {"a"}
    assert looked_up(Lookup, '"k.lat" > 37.5 OR "k.kind" = \'soil\'') == {"a"}
    assert looked_up(Lookup, '"k.kind" = \'loop\' OR "d" < 3') == {"a", "b"}


def test_a_sensor_of_that_name_of_another_source_counts_too():
    assert looked_up(Lookup, "\"k.kind\" = 'loop'", Sensor("b", "fields", "loop")) == {"a", "b"}


def test_a_left_join_with_the_catalogue_excludes_no_sensor():
    assert looked_up(LeftLookup, "\"k.kind\" = 'loop'") == {"a", "b"}
