import pytest

from skerry.catalog import Catalog, Sensor
from skerry.lang.sql import Session
from skerry.lang.sql.streams import Streams
from skerry.model.time import MICROS
from skerry.plan.sampled_aggregate import SampledAggregate
from tests.lang.sql.plans import Sources

SOURCES = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='r.csv', sample_period='2s');
CREATE SOURCE air (station INT, ts TIMESTAMP, co DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='a.csv');
CREATE SOURCE old (sensor INT, ts TIMESTAMP) WITH (connector='file', path='o.csv');
CREATE MATERIALIZED VIEW fast AS SELECT sensor, ts FROM road WHERE speed > 60;
"""
SCRIPT = Sources(SOURCES)
planned, refused = SCRIPT.planned, SCRIPT.refused
TUMBLE = "TUMBLE(road, ts, INTERVAL '30' SECOND)"


def test_samples_need_no_group_by():
    found = SCRIPT.found(SampledAggregate, f"SELECT EXPECTED_SAMPLES() FROM {TUMBLE}")
    assert (found.keys, found.folds, found.period_us) == ((), (), 2_000_000)
    assert (found.forget_us, found.silent_rows) == (MICROS["DAY"], False)


def test_answers_are_named_as_the_functions():
    found = planned(f"SELECT expected_samples(), RECEIVED_SAMPLES(), COMPLETENESS() < 1 AS holes FROM {TUMBLE}").root
    assert found.schema.names == ["expected_samples", "received_samples", "holes"]


def test_received_samples_need_no_period():
    found = SCRIPT.found(SampledAggregate, "SELECT RECEIVED_SAMPLES(station) FROM TUMBLE(air, ts, INTERVAL '1' SECOND)")
    assert found.period_us is None


def test_a_selection_has_the_period_of_its_source():
    found = SCRIPT.found(SampledAggregate, "SELECT COMPLETENESS() FROM TUMBLE(fast, ts, INTERVAL '4' SECOND)")
    assert found.period_us == 2_000_000


def test_period_of_the_view_comes_first():
    query = f"SELECT EXPECTED_SAMPLES() FROM {TUMBLE}"
    assert SCRIPT.found(SampledAggregate, query, "WITH (sample_period='500ms')").period_us == 500_000
    query = "SELECT EXPECTED_SAMPLES(station) FROM TUMBLE(air, ts, INTERVAL '1' HOUR)"
    assert SCRIPT.found(SampledAggregate, query, "WITH (sample_period='1min')").period_us == MICROS["MINUTE"]


def test_silent_rows_go_without_the_functions():
    options = "WITH (silent_rows='true', forget_after='90s')"
    found = SCRIPT.found(SampledAggregate, f"SELECT sensor, COUNT(*) FROM {TUMBLE} GROUP BY sensor", options)
    assert (found.forget_us, found.silent_rows) == (90_000_000, True)


def test_the_catalogue_knows_sensors_that_differ():
    sensors = [Sensor("7", "air", "gas", sample_period_us=5), Sensor("8", "air", "gas"), Sensor("7", "road", "loop")]
    catalog = Catalog.in_memory()
    catalog.sensor_entries.enter(sensors)
    assert Streams(catalog, Session(catalog).plan).sample_periods("air") == (("7", 5),)


@pytest.mark.parametrize(
    ("query", "options", "message"),
    [
        ("SELECT COMPLETENESS() FROM road", "", "an aggregate over a stream needs a window"),
        (f"SELECT MAX(RECEIVED_SAMPLES()) FROM {TUMBLE}", "", "RECEIVED_SAMPLES cannot stand inside an aggregate"),
        (f"SELECT RECEIVED_SAMPLES(1) FROM {TUMBLE}", "", "takes the column that tells sensors apart, or none"),
        (f"SELECT RECEIVED_SAMPLES(speed), COMPLETENESS() FROM {TUMBLE}", "", "one column, not by speed and sensor"),
        (f"SELECT sensor, COMPLETENESS() FROM {TUMBLE}", "", "column 'sensor' must stand in GROUP BY"),
        ("SELECT COMPLETENESS() FROM TUMBLE(air, ts, INTERVAL '1' HOUR)", "", "'air' has no column 'sensor'"),
        (
            "SELECT COMPLETENESS(station) FROM TUMBLE(air, ts, INTERVAL '1' HOUR)",
            "",
            "declare the source WITH (sample_period='1s')",
        ),
        ("SELECT COMPLETENESS() FROM TUMBLE(road, ts, INTERVAL '1' SECOND)", "", "take a longer window"),
        ("SELECT COMPLETENESS() FROM SESSION_WINDOW(road, ts, INTERVAL '1' HOUR)", "", "not for SESSION_WINDOW"),
        ("SELECT sensor FROM road", "WITH (silent_rows='true')", "not for a view without an aggregate"),
        (f"SELECT COUNT(*) FROM {TUMBLE}", "WITH (forget_after='1h')", "'forget_after' goes with silent_rows"),
        (f"SELECT COUNT(*) FROM {TUMBLE}", "WITH (silent_rows='yes')", "option silent_rows is 'yes'"),
        (
            "SELECT COUNT(*) FROM TUMBLE(old, ts, INTERVAL '1' HOUR)",
            "WITH (silent_rows='true')",
            "silent_rows goes by the watermark of 'old'",
        ),
        (
            "SELECT COUNT(*) FROM TUMBLE(air, ts, INTERVAL '1' HOUR)",
            "WITH (silent_rows='true')",
            "select RECEIVED_SAMPLES(column) to name another",
        ),
        (
            "SELECT COMPLETENESS() FROM TUMBLE(road, ts, INTERVAL '1' HOUR) AS a "
            "JOIN SLIDING(air, ts, INTERVAL '1' HOUR) AS b ON a.speed = b.co",
            "",
            "not for a join",
        ),
    ],
)
def test_what_cannot_be_is_refused(query, options, message):
    assert message in refused(query, options)
