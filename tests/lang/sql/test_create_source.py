import pyarrow as pa
import pytest

from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import MICROS, seconds
from skerry.model.types import SQL_TYPES
from tests.lang.sql.scripts import TRAFFIC, refused, session


def source(script, name="s"):
    made = session(script)
    return next(each for each in made.catalog.sources() if each.name == name)


def declared(columns, options="connector='file'"):
    return source(f"CREATE SOURCE s ({columns}) WITH ({options})")


def refused_columns(columns):
    return refused(f"CREATE SOURCE s ({columns}) WITH (connector='file')")


@pytest.mark.parametrize("name", [name for name in SQL_TYPES if name != "FLOAT"])
def test_column_has_the_declared_type(name):
    assert declared(f"a {name}").schema == pa.schema({"a": SQL_TYPES[name]})


@pytest.mark.parametrize(
    ("synonym", "name"),
    [
        *(("TEXT", "VARCHAR"), ("VARCHAR(9)", "VARCHAR"), ("INTEGER", "INT"), ("INT8", "BIGINT")),
        *(("REAL", "FLOAT"), ("FLOAT", "DOUBLE"), ("DOUBLE PRECISION", "DOUBLE")),
    ],
)
def test_types_have_synonyms(synonym, name):
    assert declared(f"a {synonym}").schema == pa.schema({"a": SQL_TYPES[name]})


def test_names_may_be_in_backticks():
    made = source("CREATE SOURCE `My road` (`a b` VARCHAR, `ts` TIMESTAMP) WITH (connector='file')", "My road")
    assert made.schema.names == ["a b", "ts"]


def test_names_are_lower_case_unless_quoted():
    made = source('CREATE SOURCE "My Road" (Speed DOUBLE, "Lane" INT) WITH (connector=\'file\')', "My Road")
    assert made.schema.names == ["speed", "Lane"]


def test_source_without_a_watermark_has_no_event_time():
    made = declared("ts TIMESTAMP")
    assert (made.event_time, made.delay_us) == (None, None)


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("ts - INTERVAL '5' SECOND", seconds(5)),
        ("ts - INTERVAL '5 seconds'", seconds(5)),
        ("ts - INTERVAL '1.5' MINUTE", seconds(90)),
        ("ts - INTERVAL '0' SECOND", 0),
        ("(ts - INTERVAL '2' DAY)", seconds(2 * 86400)),
        ("TS", 0),
    ],
)
def test_watermark_says_how_late_a_reading_may_be(text, delay):
    made = declared(f"ts TIMESTAMP, WATERMARK FOR ts AS {text}")
    assert (made.event_time, made.delay_us) == ("ts", delay)


@pytest.mark.parametrize("unit", MICROS)
def test_intervals_are_read_in_all_units(unit):
    assert declared(f"ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '3' {unit}").delay_us == 3 * MICROS[unit]


def test_table_is_told_from_a_source():
    made = source("CREATE TABLE s (a INT) WITH (connector='file', path='s.csv')")
    assert made.is_table
    assert not declared("a INT").is_table


def test_text_is_kept_verbatim():
    script = "create source  s (a Int) -- mine\n with (Connector = 'file')"
    assert source(script).text == script


def test_connector_is_told_from_other_options():
    made = declared("a INT", "connector='sim', Seed='1', sensors=32, flag=true")
    assert (made.connector, made.options) == ("sim", {"seed": "1", "sensors": "32", "flag": "true"})


def test_dotted_options_keep_their_case():
    made = declared("a INT", "connector='spark', spark.maxFiles='1', 'spark.minOffsets'='2'")
    assert made.options == {"spark.maxFiles": "1", "spark.minOffsets": "2"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a", "line 1, column 18: column 'a' has no type; known are BOOLEAN, TINYINT, SMALLINT"),
        ("a FOO", "line 1, column 18: column 'a' has type FOO; known are BOOLEAN, TINYINT, SMALLINT"),
        ("a INT, b DECIMAL(3, 5)", "line 1, column 25: column 'b' has type DECIMAL(3, 5); known are BOOLEAN"),
        ("a UUID[]", "column 'a' has type UUID[]; known are"),
        ("a INT(3)", "column 'a' has type INT(3); known are"),
        ("a INT, A INT", "line 1, column 15: column 'a' is declared twice"),
        ('a INT, "A" INT', "column 'a' is declared twice"),
        ("", "line 1, column 15: no column is declared"),
        ("a INT PRIMARY KEY", "cannot read 'a INT PRIMARY KEY'; a column is written: name TYPE"),
        ("a INT, CHECK (a > 1)", "cannot read 'CHECK (a > 1)'; a column is written: name TYPE"),
        ("a INT, WATERMARK FOR a AS a", "line 1, column 39: a watermark needs a TIMESTAMP; 'a' is INT"),
        ("a INT, WATERMARK FOR b AS b", "line 1, column 39: unknown column 'b'; s has a"),
        ("a TIMESTAMP, WATERMARK FOR a AS a + INTERVAL '1' SECOND", "a watermark is written WATERMARK FOR a AS a -"),
        ("a TIMESTAMP, WATERMARK FOR a AS a - INTERVAL '-1' SECOND", "a watermark is written WATERMARK FOR a AS a -"),
        ("a TIMESTAMP, WATERMARK AS a", "a watermark is written WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"),
        ("a TIMESTAMP, WATERMARK FOR a AS a - 5", "line 1, column 54: expected an INTERVAL, got 5"),
        ("a TIMESTAMP, WATERMARK FOR a AS a, WATERMARK FOR a AS a", "a source has one watermark"),
        ("a TIMESTAMP, WATERMARK FOR a AS a - INTERVAL '1' MONTH", "has no fixed length; write INTERVAL '30' DAY"),
        (
            "a TIMESTAMP, WATERMARK FOR a AS a - INTERVAL '1 day 2 moons'",
            "'1 day 2 moons' is no span of time; write INTERVAL",
        ),
        ("a TIMESTAMP, WATERMARK FOR a AS a - INTERVAL '99999999999' WEEK", "INTERVAL '99999999999 WEEK' is too long"),
    ],
)
def test_wrong_columns_are_refused(columns, message):
    assert message in refused_columns(columns)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "CREATE SOURCE s (a INT)",
            "line 1, column 1: 's' needs WITH (connector = ...); known are file, folder, mqtt, sim, spark",
        ),
        ("CREATE SOURCE s WITH (connector='file')", "SOURCE 's' needs its columns: CREATE SOURCE name (column TYPE"),
        ("CREATE SOURCE a.s (a INT) WITH (connector='file')", "'a.s' has a name in two parts"),
        ("CREATE SOURCE \"../s\" (a INT) WITH (connector='file')", "'../s' cannot be a name"),
        ("CREATE TABLE s (a INT) WITH (connector='file') AS SELECT 1", "CREATE TABLE takes no query"),
        ("CREATE SOURCE s (a INT) WITH (connector='a', connector='b')", "option 'connector' is given twice"),
        ("CREATE SOURCE s (a INT) WITH (connector='a', path=1+1)", "cannot read the option 'path=1 + 1'"),
    ],
)
def test_wrong_sources_are_refused(script, message):
    assert message in refused(script)


def test_traffic_of_these_tests_is_what_it_seems():
    made = source("DROP SOURCE IF EXISTS none", "traffic")
    assert (made.event_time, made.delay_us, made.text) == ("ts", seconds(5), TRAFFIC)


def test_sample_period_is_an_option_of_every_source_and_stays_in_the_catalogue():
    catalog = Catalog.in_memory()
    options = ["connector='file', path='a.csv'", "connector='spark', spark_format='kafka'", "connector='sim'"]
    for number, option in enumerate(options):
        columns = "sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts"
        Session(catalog).execute(f"CREATE SOURCE s{number} ({columns}) WITH ({option}, sample_period='250ms')")
    assert [source.sample_period_us for source in catalog.sources()] == [250_000] * 3
    assert all("sample_period" not in source.options for source in catalog.sources())
