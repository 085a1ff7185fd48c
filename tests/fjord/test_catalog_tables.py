"""A run sees changes of the catalogue from its next step on."""

from skerry import MemorySink, Settings, connect
from skerry.catalog import Sensor, SensorStatus
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.runtime import RunOptions

SCRIPT = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts)
    WITH (connector='file', path='r.csv');
CREATE MATERIALIZED VIEW seen AS
SELECT r.sensor, s.kind, s.online FROM road AS r LEFT JOIN sensors AS s ON s.name = r.sensor"""
READINGS = "sensor,ts\n" + "".join(f"a,2026-01-01 00:00:0{number}\n" for number in range(3))


def test_catalogue_that_changes_counts_from_the_next_step_on(tmp_path):
    (tmp_path / "r.csv").write_text(READINGS)
    database, elsewhere = connect(tmp_path), connect(tmp_path)
    database.execute(SCRIPT)
    pipeline = database.pipeline(database.plans(), Settings("fjord", step_rows=1))
    steps = FjordRuntime(pipeline, MemorySink(), RunOptions(catalog=database.catalog)).steps()
    found = []
    for (_, answers), change in zip(steps, (enter, come_online, None), strict=False):
        found += [(row["kind"], row["online"]) for row in answers["seen"].to_pylist()]
        if change:
            change(elsewhere.catalog)
    assert found == [(None, None), ("loop", None), ("loop", True)]


def enter(catalog):
    catalog.put_sensors("road", [Sensor("a", "road", "loop")])


def come_online(catalog):
    catalog.put_statuses([SensorStatus("a", "road", online=True)])
