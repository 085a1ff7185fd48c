import sqlite3
from dataclasses import replace

import pytest

from skerry.catalog import Catalog, Sensor, SensorStatus
from skerry.model.time import Micros, seconds

WHOLE = Sensor(
    "loop-7",
    "road",
    "loop",
    37.87,
    -122.3,
    ("i80", "north"),
    ("speed", "flow"),
    {"speed": "mph"},
    seconds(1),
    ("raw", "counts"),
    (("upstream_of", "loop-8"), ("pair_of", "loop-6")),
)
OLD_TABLES = """
CREATE TABLE sensors (name VARCHAR NOT NULL, source VARCHAR NOT NULL, kind VARCHAR NOT NULL, latitude FLOAT,
    longitude FLOAT, tags VARCHAR NOT NULL, PRIMARY KEY (name, source));
INSERT INTO sensors VALUES ('a', 'road', 'loop', 37.8, -122.3, '["i80"]');
"""


@pytest.fixture
def catalog():
    made = Catalog.in_memory()
    yield made
    made.close()


def test_all_that_is_known_of_a_sensor_is_read_back(catalog):
    catalog.put_sensors("road", [WHOLE])
    assert catalog.sensors() == [WHOLE]


def test_what_people_entered_stays_when_the_source_tells_its_sensors(catalog):
    catalog.sensor_entries.enter([WHOLE])
    catalog.put_sensors("road", [Sensor("loop-7", "road", "unknown"), Sensor("loop-8", "road", "loop")])
    assert catalog.sensors() == [WHOLE, Sensor("loop-8", "road", "loop")]


def test_what_a_sensor_says_later_counts_and_others_stay(catalog):
    catalog.put_sensors("road", [Sensor("a", "road", "loop"), Sensor("b", "road", "loop")])
    catalog.sensor_entries.add_known([Sensor("b", "road", "radar")])
    assert [sensor.kind for sensor in catalog.sensors()] == ["loop", "radar"]


def test_sensors_of_one_name_are_found_in_all_sources(catalog):
    catalog.sensor_entries.enter([Sensor("a", "road", "loop"), Sensor("a", "air", "vane"), Sensor("b", "air", "vane")])
    assert [sensor.source for sensor in catalog.sensor_entries.named("a")] == ["air", "road"]


def test_missing_sensors_are_told(catalog):
    catalog.sensor_entries.enter([Sensor("a", "road", "loop")])
    assert catalog.sensor_entries.list_missing([("road", "a"), ("road", "b"), ("air", "a")]) == [
        ("road", "b"),
        ("air", "a"),
    ]


def test_catalogue_of_an_earlier_version_gets_the_new_columns(tmp_path):
    with sqlite3.connect(tmp_path / "skerry.db") as connection:
        connection.executescript(OLD_TABLES)
    connection.close()
    for _ in range(2):
        catalog = Catalog.of_project(tmp_path)
        assert catalog.sensors() == [Sensor("a", "road", "loop", 37.8, -122.3, ("i80",))]
        catalog.close()


def test_catalogue_of_an_earlier_version_takes_new_sensors(tmp_path):
    with sqlite3.connect(tmp_path / "skerry.db") as connection:
        connection.executescript(OLD_TABLES)
    connection.close()
    catalog = Catalog.of_project(tmp_path)
    catalog.put_sensors("road", [WHOLE])
    assert catalog.sensors() == [WHOLE]
    catalog.close()


STATUS = SensorStatus("a", "road", seconds(5), True, 0.5, 10, 1, 2, 3, 7, {"program": "raw", "asleep": False})


def test_status_is_read_back(catalog):
    catalog.put_statuses([STATUS])
    assert catalog.statuses.all() == [STATUS]


def test_later_status_counts_and_leaves_what_it_does_not_know(catalog):
    catalog.put_statuses([STATUS])
    catalog.put_statuses([SensorStatus("a", "road", seconds(6), readings=11)])
    expected = replace(STATUS, last_seen_us=seconds(6), readings=11, gaps=0, duplicates=0, garbled=0)
    assert catalog.statuses.of("a", "road") == expected


def test_many_statuses_are_noted_at_once(catalog):
    catalog.put_statuses(SensorStatus(f"s{number}", "road", Micros(number)) for number in range(10_000))
    assert len(catalog.statuses.all("road")) == 10_000


def test_status_of_a_sensor_never_heard_of_is_none(catalog):
    assert catalog.statuses.of("a", "road") is None


def test_dropped_source_takes_statuses_along(catalog):
    catalog.put_statuses([STATUS])
    catalog.drop("road")
    assert catalog.statuses.all() == []
