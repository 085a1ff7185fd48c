import time
from dataclasses import replace
from types import SimpleNamespace

import pyarrow as pa

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.fjord.runtime import FjordRuntime
from skerry.lang.sql import Session
from skerry.model.time import START_OF_TIME, seconds
from skerry.pipeline.pipeline import Pipeline
from skerry.replay.replay import Replay
from skerry.sinks.memory import MemorySink
from skerry.testing.sources import GivenConnector
from tests.fjord.given import batch

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "sensor": pa.int32()})
SCRIPT = """CREATE SOURCE m (ts TIMESTAMP, sensor INT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
    WITH (connector='file', path='m.csv', idle_timeout='10s');
    CREATE MATERIALIZED VIEW quiet AS
    SELECT sensor, ts FROM SILENCE(m, ts, INTERVAL '30' SECOND, across => sensor) AS s"""


class Spooled(GivenConnector):
    """A live source that others send to: what it says of its clock is set by the test."""

    live, come = True, START_OF_TIME

    def lanes(self):
        lanes = super().lanes()
        for lane in lanes:
            lane.is_received, lane.come = True, lambda: self.come
        return lanes


def given():
    """A source that has had two readings, and the plan of its view."""
    session = Session(Catalog.in_memory())
    session.execute(SCRIPT)
    connector = Spooled(session.catalog.sources()[0], [[batch([(0, 1), (seconds(5), 2)], SCHEMA)]])
    connector.come = seconds(5)
    return connector, tuple(map(cut_view, session.plans()))


def test_time_goes_on_without_readings_in_half_timeouts():
    connector, _ = given()
    replay = Replay([connector], 100)
    position = replay.next(replay.start())
    assert position["until"] == {"m": seconds(5)}
    connector.come = seconds(9)
    assert replay.next(position) == position
    connector.come = seconds(10)
    following = replay.next(position)
    assert following["until"] == {"m": seconds(10)}
    assert (following["step"], following["lanes"]) == (2, position["lanes"])


def test_time_never_goes_back():
    connector, _ = given()
    replay = Replay([connector], 100)
    connector.come = seconds(20)
    position = replay.next(replay.start())
    connector.come = seconds(3)
    connector._given[0].append(batch([(seconds(6), 1)], SCHEMA))
    following = replay.next(position)
    assert following["until"] == {"m": seconds(20)}


def test_source_that_stands_still_does_not_keep_another_from_being_read():
    (quiet, _), (other, _) = given(), given()
    quiet.definition = replace(quiet.definition, name="q")
    quiet.come, other._given = START_OF_TIME, [[batch([(seconds(9), 1)], SCHEMA)]]
    other.come = seconds(9)
    assert Replay([quiet, other], 100).next(Replay([quiet, other], 100).start())["until"]["m"] == seconds(9)


def test_silence_of_all_sensors_is_noticed_and_a_sensor_that_comes_back_is_in_time(monkeypatch):
    (connector, views), found = given(), []

    def sleep(patience):
        connector.come += seconds(1)
        if connector.come == seconds(65):
            connector._given[0].append(batch([(seconds(64), 1)], SCHEMA))

    # The module's own clock, not the process's: other threads sleep too.
    monkeypatch.setattr("skerry.fjord.runtime.time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    runtime = FjordRuntime(Pipeline((connector,), views), MemorySink())
    for outcome, answers in runtime.steps(stopped=lambda: connector.come > seconds(75)):
        found += answers["quiet"].column("sensor").to_pylist() if "quiet" in answers else []
        assert all(tally.late == 0 for tally in outcome.tallies.values())
    assert found == [1, 2]
