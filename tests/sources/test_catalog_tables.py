from contextlib import closing
from dataclasses import replace
from itertools import count

import pyarrow as pa

from skerry.catalog import Catalog, Sensor, SensorStatus, Subscription
from skerry.catalog.arrow_tables import CATALOG_TABLES, find_catalog_table
from skerry.model.time import Micros
from skerry.sources.catalog_tables import CatalogTables
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


def test_table_of_some_columns_keeps_its_version_when_others_change(tmp_path):
    narrow = replace(SENSORS, name="catalog:sensors:name", schema=pa.schema({"name": pa.string()}))
    with closing(Catalog.of_project(tmp_path)) as catalog:
        catalog.put_sensors("road", [Sensor("a", "road", "loop")])
        tables = Tables([SENSORS, narrow], tmp_path, catalog)
        before = tables.versions()
        catalog.put_statuses([SensorStatus("a", "road", Micros(5))])
        after = tables.versions()
        assert before[SENSORS.name] != after[SENSORS.name]
        assert before[narrow.name] == after[narrow.name]
        assert tables.rows(narrow.name).schema.names == ["name"]


def test_table_that_takes_long_to_read_is_not_read_again_at_once():
    now, effort = [0.0], count()
    with closing(Catalog.in_memory()) as catalog:
        tables = CatalogTables(catalog, lambda: now[0], lambda: next(effort))
        tables.read(SENSORS)
        catalog.put_sensors("road", [Sensor("a", "road", "loop")])
        assert tables.read(SENSORS)[1].num_rows == 0
        now[0] += 20
        assert tables.read(SENSORS)[1].num_rows == 1
