import pyarrow as pa
import pytest
import sqlglot

from skerry.build.explain import explain
from skerry.catalog import Catalog, Sensor, SensorStatus
from skerry.errors import CatalogError, SqlError
from skerry.lang.sql import Session
from skerry.lang.sql.scalar import Scope, scalar
from skerry.model.dialect import Dialect
from skerry.model.duckdb_session import query_batch
from skerry.model.time import seconds
from skerry.operators.derive import Derive

ROAD = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
    WITH (connector='mqtt', url='mqtt://me:hidden@host:1883', mqtt_password='hidden')"""
PLACED = "CREATE MATERIALIZED VIEW placed AS SELECT s.lat FROM road AS r JOIN sensors AS s ON s.name = r.sensor"
LOOP = Sensor("a", "road", "loop", 37.9, -122.3, ("i80",), ("speed",), {"speed": "mph"}, seconds(2), ("raw",))


@pytest.fixture
def session():
    made = Session(Catalog.in_memory())
    made.execute(ROAD)
    made.catalog.put_sensors("road", [LOOP, Sensor("b", "road", "radar", 37.7, -122.3)])
    made.catalog.put_statuses([SensorStatus("a", "road", seconds(60), online=True, battery=0.5)])
    yield made
    made.catalog.close()


def asked(session, query):
    return session.select(query).to_pylist(maps_as_pydicts="lossy")


def test_sensors_are_found_by_tag_and_place(session):
    (found,) = asked(session, "SELECT * FROM sensors WHERE 'i80' = ANY(tags) AND lat > 37.8;")
    names = ["name", "source", "kind", "lat", "lon", "tags", "columns", "units", "sample_period", "programs", "online"]
    assert list(found) == [*names, "last_seen", "battery", "readings", "gaps", "duplicates", "garbled"]
    assert (found["name"], found["units"], found["online"], found["battery"]) == ("a", {"speed": "mph"}, True, 0.5)


def test_times_and_spans_are_those_of_sql(session):
    query = (
        "SELECT last_seen = TIMESTAMP '1970-01-01 00:01:00' AND sample_period = INTERVAL 2 SECOND AS yes FROM sensors"
    )
    assert asked(session, f"{query} WHERE name = 'a'") == [{"yes": True}]


def test_sources_are_told_without_their_passwords(session):
    (found,) = asked(session, "SELECT * FROM sources")
    assert found["options"] == {"url": "mqtt://me:***@host:1883", "mqtt_password": "***"}
    assert (found["columns"], found["types"]) == (["sensor", "ts"], ["VARCHAR", "TIMESTAMP"])


def test_views_are_told_without_their_passwords(session):
    options = "sink='spark', spark_format='jdbc', 'spark.url'='jdbc:x', 'spark.password'='hidden'"
    session.execute(f"CREATE MATERIALIZED VIEW kept WITH ({options}) AS SELECT sensor FROM road")
    (found,) = asked(session, "SELECT options, text FROM views")
    assert found["options"]["spark.password"] == "***"
    assert "hidden" not in found["text"]
    assert "hidden" not in explain(session.plan("kept"))


def test_views_and_subscriptions_are_told(session):
    session.execute(
        f"{PLACED}; INSERT INTO subscriptions (id, stream, predicate) VALUES ('q', 'road', 'sensor = ''a''')"
    )
    assert asked(session, "SELECT name, text FROM views") == [{"name": "placed", "text": PLACED}]
    assert asked(session, "SELECT id, stream, sink FROM subscriptions") == [{"id": "q", "stream": "road", "sink": None}]


def test_tables_are_joined_counted_and_named_by_with(session):
    query = "WITH placed AS (SELECT * FROM sensors WHERE lat < 38) SELECT s.name, count(*) AS n FROM placed"
    assert asked(session, f"{query} JOIN catalog.sources AS s ON s.name = source GROUP BY s.name") == [
        {"name": "road", "n": 2}
    ]


def test_select_in_a_script_sees_what_stands_before_it(session):
    answers = []
    session.execute(f"SELECT count(*) AS n FROM views; {PLACED}; SELECT count(*) AS n FROM views", answers.append)
    assert [answer.to_pylist() for answer in answers] == [[{"n": 0}], [{"n": 1}]]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "SELECT * FROM road",
            "line 1, column 15: a SELECT by itself gives no answers; write CREATE MATERIALIZED VIEW",
        ),
        ("SELECT * FROM nowhere", "or ask the catalogue: sensors, sources, views, subscriptions"),
        ("SELECT * FROM TUMBLE(road, ts, INTERVAL '1' SECOND)", "a SELECT by itself gives no answers"),
        ("SELECT * FROM other.sensors", "a SELECT by itself gives no answers"),
        ("SELECT colour FROM sensors", 'referenced column "colour" not found'),
        ("SELECT * FROM read_csv('/etc/passwd')", "file system operations are disabled"),
        ("SELECT * FROM '/etc/passwd'", "a SELECT by itself gives no answers"),
        ("DROP SOURCE road", "expected one SELECT"),
        ("SELECT 1; SELECT 2", "expected one SELECT"),
        ("SHOW TABLES", "SELECT * FROM sources, SELECT * FROM views"),
        ("DESCRIBE road", "in SELECT * FROM sources"),
        ("SUMMARIZE road", "SELECT COUNT(*), MIN(x)"),
    ],
)
def test_what_the_catalogue_cannot_answer_is_refused(session, query, message):
    with pytest.raises(SqlError) as error:
        session.select(query)
    assert message in str(error.value)


def test_own_table_of_that_name_comes_first(session):
    session.execute("CREATE TABLE sensors (name VARCHAR, lat TEXT) WITH (connector='file', path='sensors.csv')")
    session.execute(PLACED)
    assert [table.connector for table in session.plan("placed").tables] == ["file"]
    assert session.select("SELECT * FROM sensors").column_names == ["name", "lat"]
    assert len(asked(session, "SELECT * FROM catalog.sensors")) == 2


def test_name_that_a_view_reads_in_the_catalogue_is_taken(session):
    session.execute(PLACED)
    with pytest.raises(CatalogError, match="cannot make 'sensors'; view 'placed' reads the table 'sensors' of the cat"):
        session.execute("CREATE TABLE sensors (name VARCHAR) WITH (connector='file', path='sensors.csv')")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT name FROM sensors",
        "SELECT name FROM TUMBLE(sensors, last_seen, INTERVAL '1' SECOND)",
        "SELECT count(*) AS n FROM catalog.sensors GROUP BY name",
        "SELECT key FROM GATHER(sensors, key => kind, across => name, within => INTERVAL '60' SECOND) AS g",
    ],
)
def test_view_needs_a_stream_beside_the_catalogue(session, query):
    with pytest.raises(SqlError, match="a table of the catalogue"):
        session.execute(f"CREATE MATERIALIZED VIEW v AS {query}")


def test_any_means_in_a_view_what_it_means_in_duckdb():
    tags = pa.array([["a", "b"], ["b"], [], None, ["b", None], ["a", None]], pa.list_(pa.string()))
    batch = pa.record_batch({"tags": tags, "x": ["a"] * 6})
    bound = scalar(sqlglot.parse_one("x = ANY(tags)", read=Dialect), Scope("t", batch.schema))
    expected = query_batch("SELECT x = ANY(tags) AS found FROM unit", batch)
    assert Derive([("found", bound)]).transition(batch).to_pydict() == expected.to_pydict()
