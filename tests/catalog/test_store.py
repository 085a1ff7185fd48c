from pathlib import Path

import pyarrow as pa
import pytest

from skerry.catalog import Catalog, Sensor, Source, View
from skerry.errors import CatalogError
from skerry.model.time import seconds
from skerry.model.types import SQL_TYPES

SCHEMA = pa.schema([pa.field(name.lower(), type_) for name, type_ in SQL_TYPES.items()])
TRAFFIC = Source("traffic", SCHEMA, "file", {"path": "a.csv"}, "timestamp", seconds(5), text="CREATE SOURCE ...")
INCIDENTS = Source("incidents", SCHEMA, "sim", {"seed": "1"}, is_table=True, text="CREATE TABLE ...")
JAMS = View("jams", {"late_to": "jams_late"}, "CREATE MATERIALIZED VIEW ...")
LOOPS = [Sensor("b", "traffic", "loop"), Sensor("a", "traffic", "loop", 37.8, -122.3, ("i80", "north"))]


@pytest.fixture
def catalog():
    made = Catalog.in_memory()
    yield made
    made.close()


@pytest.fixture
def reopened(tmp_path):
    """A function that opens the catalogue of one and the same project."""
    opened: list[Catalog] = []

    def reopen() -> Catalog:
        opened.append(Catalog.of_project(tmp_path))
        return opened[-1]

    yield reopen
    for each in opened:
        each.close()


def put(catalog, *entries):
    with catalog.all_or_nothing():
        for entry in entries:
            catalog.add(entry)


def test_entries_are_read_back_as_they_were(catalog):
    put(catalog, TRAFFIC, INCIDENTS, JAMS)
    assert (catalog.sources(), catalog.views()) == ([TRAFFIC, INCIDENTS], [JAMS])


def test_names_are_in_order_of_creation(catalog):
    put(catalog, JAMS, TRAFFIC, INCIDENTS)
    assert catalog.names() == ["jams", "traffic", "incidents"]


def test_text_of_an_entry_is_kept(catalog):
    put(catalog, TRAFFIC)
    assert catalog.text_of("traffic") == TRAFFIC.text


def test_text_of_what_is_not_there_is_none(catalog):
    assert catalog.text_of("traffic") is None


def test_view_is_found_by_its_name(catalog):
    put(catalog, JAMS)
    assert catalog.view("jams") == JAMS


def test_unknown_view_tells_the_known_ones(catalog):
    put(catalog, JAMS)
    with pytest.raises(CatalogError, match="there is no view 'jam'; known are jams"):
        catalog.view("jam")


def test_source_is_no_view(catalog):
    put(catalog, TRAFFIC)
    with pytest.raises(CatalogError, match="there is no view 'traffic'; known are none"):
        catalog.view("traffic")


def test_name_that_is_taken_is_refused(catalog):
    put(catalog, TRAFFIC)
    with pytest.raises(CatalogError, match="'traffic' exists already"):
        put(catalog, View("traffic"))


def test_block_that_fails_changes_nothing(catalog):
    put(catalog, TRAFFIC)
    with pytest.raises(CatalogError, match="exists already"):
        put(catalog, JAMS, INCIDENTS, TRAFFIC)
    assert catalog.names() == ["traffic"]


def test_dropped_entry_takes_its_sensors_along(catalog):
    put(catalog, TRAFFIC, INCIDENTS)
    catalog.put_sensors("traffic", LOOPS)
    catalog.put_sensors("incidents", [Sensor("patrol", "incidents", "car")])
    catalog.drop("traffic")
    assert [sensor.name for sensor in catalog.sensors()] == ["patrol"]


def test_sensors_are_read_back_by_name(catalog):
    catalog.put_sensors("traffic", LOOPS)
    assert catalog.sensors() == sorted(LOOPS, key=lambda sensor: sensor.name)


def test_sensors_of_a_source_are_replaced(catalog):
    catalog.put_sensors("traffic", LOOPS)
    catalog.put_sensors("traffic", LOOPS[:1])
    assert catalog.sensors() == LOOPS[:1]


def test_two_sources_may_have_a_sensor_of_one_name(catalog):
    catalog.put_sensors("traffic", [Sensor("a", "traffic", "loop")])
    catalog.put_sensors("weather", [Sensor("a", "weather", "vane")])
    assert [sensor.source for sensor in catalog.sensors()] == ["traffic", "weather"]


def test_catalogue_of_a_project_outlives_its_connection(reopened):
    first = reopened()
    put(first, TRAFFIC, JAMS)
    first.put_sensors("traffic", LOOPS)
    first.close()
    again = reopened()
    assert (again.sources(), again.views(), len(again.sensors())) == ([TRAFFIC], [JAMS], 2)


def test_two_connections_see_each_others_entries(reopened):
    one, other = reopened(), reopened()
    put(one, TRAFFIC)
    assert other.names() == ["traffic"]
    put(other, JAMS)
    assert one.names() == ["traffic", "jams"]


def test_name_taken_through_another_connection_is_refused(reopened):
    one, other = reopened(), reopened()
    put(one, TRAFFIC)
    with pytest.raises(CatalogError, match="'traffic' exists already"):
        put(other, TRAFFIC)


def test_what_is_not_committed_is_not_seen(reopened):
    one, other = reopened(), reopened()
    one.add(TRAFFIC)
    assert other.names() == []


def test_catalogues_in_memory_are_apart(catalog):
    put(catalog, TRAFFIC)
    other = Catalog.in_memory()
    assert other.names() == []
    other.close()


def test_project_without_a_folder_is_refused(tmp_path):
    with pytest.raises(CatalogError, match=r"there is no project folder '.*nowhere'"):
        Catalog.of_project(tmp_path / "nowhere")


def test_file_that_is_no_catalogue_is_refused(tmp_path):
    Path(tmp_path / "skerry.db").write_bytes(b"x" * 4096)
    with pytest.raises(CatalogError, match=r"cannot open the catalogue .*file is not a database"):
        Catalog.of_project(tmp_path)


def test_names_are_data_and_nothing_else(catalog):
    put(catalog, View("v'; DROP TABLE entries; --"))
    catalog.drop("x' OR '1'='1")
    assert catalog.names() == ["v'; DROP TABLE entries; --"]
