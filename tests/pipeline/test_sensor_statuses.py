"""What is heard of sensors is in the catalogue soon, and adds up over runs."""

import json

import pyarrow as pa
import pytest

from skerry import connect
from skerry.catalog import Catalog, Source
from skerry.database import Settings
from skerry.model.time import Micros
from skerry.pipeline.sensor_statuses import StatusWriter
from skerry.sensors.heard import Heard
from skerry.sinks.memory import MemorySink
from skerry.sources.source import ReceivingAlone

SCRIPT = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='folder', path='*.jsonl', settle='0s');
CREATE MATERIALIZED VIEW all_of_it AS SELECT * FROM road;
"""

SCHEMA = pa.schema({"sensor": pa.string()})


class Receiving(ReceivingAlone):
    """Hears what it is given."""

    def __init__(self, *heard):
        self.heard, self.settled = list(heard), 0

    def take_heard(self):
        return self.heard.pop(0) if self.heard else {}

    def settle_heard(self):
        self.settled += 1


@pytest.fixture
def catalog():
    return Catalog.in_memory()


def status(catalog, name):
    return catalog.statuses.of(name, "road")


def test_counts_add_up_and_gaps_may_close(catalog):
    receiving = Receiving({"a": Heard(Micros(5), 3, 1, 0, 2)}, {"a": Heard(Micros(9), 2, 0, 1, -1)})
    for _ in range(2):
        StatusWriter(catalog).write({"road": receiving})
    found = status(catalog, "a")
    assert (found.last_seen_us, found.readings, found.duplicates, found.garbled, found.gaps) == (9, 5, 1, 1, 1)
    assert receiving.settled == 2


def test_sensor_with_readings_is_entered_and_one_that_was_only_garbled_is_not(catalog):
    heard = {"a": Heard(Micros(5), 3), "b": Heard(Micros(5), garbled=1)}
    StatusWriter(catalog).write({"road": Receiving(heard)})
    assert [(sensor.name, sensor.kind) for sensor in catalog.sensors()] == [("a", "sensor")]


def test_silent_sensor_is_off_line_until_it_is_heard_again(catalog):
    catalog.add(Source("road", SCHEMA, "mqtt", sample_period_us=Micros(1_000_000)))
    writer = StatusWriter(catalog)
    long_ago, soon = {"a": Heard(Micros(5), 1)}, {"a": Heard(Micros(2**62), 1)}
    seen = []
    for heard in (long_ago, soon):
        writer.write({"road": Receiving(heard)})
        seen.append(status(catalog, "a").online)
    assert seen == [False, True]


def test_writing_takes_a_share_of_the_time_at_most(catalog):
    now = [0.0]
    receiving = Receiving(*({"a": Heard(Micros(5), 1)} for _ in range(3)))
    writer = StatusWriter(catalog, lambda: now[0])
    for now[0] in (0.0, 0.5, 0.9):
        writer.look({"road": receiving})
    assert receiving.settled == 1


def test_folder_that_is_watched_tells_who_was_heard(tmp_path):
    rows = [{"sensor": "a", "ts": "2026-01-01", "speed": 1}, {"sensor": "b", "ts": "2026-01-01", "speed": 2}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0]]) + "?\n")
    database = connect(tmp_path)
    database.execute(SCRIPT)
    seen = []
    database.run(MemorySink(), Settings("fjord"), stopped=lambda: bool(seen), watch=seen.append)
    found = database.sql("SELECT name, readings, online FROM sensors ORDER BY name").to_arrow().to_pylist()
    assert found == [
        {"name": "a", "readings": 2, "online": True},
        {"name": "b", "readings": 1, "online": True},
    ]
