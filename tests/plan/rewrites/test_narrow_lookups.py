"""A view sees the columns of the catalogue's tables that it asks for."""

import pytest

from skerry import connect
from skerry.plan.rewrites.narrow_lookups import narrow_lookups

SOURCE = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='road.csv');
"""
JOIN = "road AS r {kind} JOIN sensors AS s ON s.name = r.sensor"


def narrow(query):
    database = connect()
    database.execute(f"{SOURCE} CREATE MATERIALIZED VIEW v AS {query}")
    [plan] = database.plans()
    made = narrow_lookups(plan)
    assert made.root.schema == plan.root.schema
    [table] = made.tables
    return table


@pytest.mark.parametrize("kind", ["", "LEFT"])
def test_columns_that_are_answered_compared_and_looked_up_by_are_there(kind):
    table = narrow(f"SELECT r.ts, s.lat FROM {JOIN.format(kind=kind)} WHERE s.kind = 'loop'")
    assert {"name", "lat"} <= set(table.schema.names)
    assert not {"last_seen", "readings"} & set(table.schema.names)


def test_all_columns_are_there_where_all_are_asked_for():
    assert narrow(f"SELECT * FROM {JOIN.format(kind='')}").name == "catalog:sensors"


def test_aggregate_asks_for_what_it_groups_by():
    table = narrow(
        "SELECT s.kind, COUNT(*) FROM TUMBLE(road, ts, INTERVAL '1' MINUTE) AS r "
        "JOIN sensors AS s ON s.name = r.sensor GROUP BY s.kind, window_start"
    )
    assert table.schema.names == ["name", "kind"]
