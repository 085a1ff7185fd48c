"""A table that changes while a run goes on."""

import os

import pyarrow as pa

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.fjord.runtime import FjordRuntime
from skerry.sinks.memory import MemorySink

SCRIPT = """
CREATE SOURCE road (sensor INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) WITH (connector='file', path='road*.csv');
CREATE TABLE sensors (id INT, place VARCHAR) WITH (connector='file', path='sensors.csv');
CREATE MATERIALIZED VIEW placed AS SELECT s.place FROM road AS r JOIN sensors AS s ON s.id = r.sensor;
"""


def place_sensor(folder, place, moment):
    path = folder / "sensors.csv"
    path.write_text(f"id,place\n1,{place}\n")
    os.utime(path, (moment, moment))


def test_next_step_sees_the_table_as_it_is_then(tmp_path):
    for number in range(3):
        (tmp_path / f"road{number}.csv").write_text(f"sensor,ts\n1,2026-01-01 00:00:0{number}\n")
    place_sensor(tmp_path, "bridge", 1)
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(SCRIPT)
    run = FjordRuntime(database.pipeline(database.plans(), Settings("fjord", step_rows=1)), MemorySink())
    found = []
    for _, answers in run.steps():
        found += answers.get("placed", pa.record_batch({"place": []})).column("place").to_pylist()
        place_sensor(tmp_path, "tunnel", 2)
    assert found == ["bridge", "tunnel", "tunnel"]


def test_view_is_dropped_before_its_table(tmp_path):
    database = Database(Catalog.in_memory(), tmp_path)
    database.execute(SCRIPT)
    database.execute("DROP MATERIALIZED VIEW placed; DROP TABLE sensors")
    assert [source.name for source in database.catalog.sources()] == ["road"]
