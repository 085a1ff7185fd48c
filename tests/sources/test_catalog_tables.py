from contextlib import closing

from skerry.catalog import Catalog, Sensor, SensorStatus, Subscription
from skerry.catalog.arrow_tables import CATALOG_TABLES, find_catalog_table
from skerry.sources.tables import Tables

SENSORS = find_catalog_table("sensors")


def test_tables_have_their_columns_though_they_are_empty():
    with closing(Catalog.in_memory()) as catalog:
        for name, schema in CATALOG_TABLES.items():
            assert catalog.read_table(name).schema == schema


def test_table_is_read_again_when_somebody_else_changes_it(tmp_path):
    with closing(Catalog.of_project(tmp_path)) as mine, closing(Catalog.of_project(tmp_path)) as other:
        tables = Tables([SENSORS], tmp_path, mine)
        before = tables.versions()
        other.put_sensors("road", [Sensor("a", "road", "loop")])
        between = tables.versions()
        other.put_statuses([SensorStatus("a", "road", online=True)])
        after = tables.versions()
        assert len({each[SENSORS.name] for each in (before, between, after)}) == 3
        assert tables.rows(SENSORS.name).column("online").to_pylist() == [True]


def test_table_in_memory_is_read_again_when_it_changes(tmp_path):
    with closing(Catalog.in_memory()) as catalog:
        tables = Tables([SENSORS], tmp_path, catalog)
        catalog.put_sensors("road", [Sensor("a", "road", "loop")])
        tables.versions()
        assert tables.rows(SENSORS.name).num_rows == 1


def test_table_keeps_its_version_when_another_changes(tmp_path):
    with closing(Catalog.of_project(tmp_path)) as catalog:
        tables = Tables([SENSORS], tmp_path, catalog)
        before = tables.versions()
        with catalog.all_or_nothing():
            catalog.subscriptions.add([Subscription("q", "road", "TRUE")])
        assert tables.versions() == before
