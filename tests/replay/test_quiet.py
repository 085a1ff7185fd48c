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


def given():
    """A live source that has had two readings, and the plan of its view."""
    session = Session(Catalog.in_memory())
    session.execute(SCRIPT)
    connector = GivenConnector(session.catalog.sources()[0], [[batch([(0, 1), (seconds(5), 2)], SCHEMA)]])
    connector.live = True
    return connector, tuple(map(cut_view, session.plans()))


def planner(connector):
    now = [0.0]
    return Replay([connector], 100, clock=lambda: now[0]), now


def test_time_goes_on_without_a_live_source_that_is_quiet_for_its_timeout():
    replay, now = planner(given()[0])
    position = replay.next(replay.start())
    assert position["until"] == {"m": seconds(5)}
    now[0] = 10.0
    assert replay.next(position) == position
    now[0] = 10.5
    following = replay.next(position)
    assert following["until"] == {"m": seconds(15.5)}
    assert (following["step"], following["lanes"]) == (2, position["lanes"])
    now[0] = 10.9
    assert replay.next(following) == following


def test_a_restart_goes_on_from_where_time_had_come():
    connector, _ = given()
    replay, now = planner(connector)
    position = replay.next(replay.start())
    now[0] = 20.0
    position = replay.next(position)
    again, now = planner(connector)
    assert again.next(position) == position
    now[0] = 11.0
    assert again.next(position)["until"] == {"m": seconds(36)}


def test_a_source_that_was_never_heard_is_not_waited_for_nor_moved():
    connector, _ = given()
    connector._given = [[]]
    replay, now = planner(connector)
    now[0] = 99.0
    assert replay.next(replay.start())["until"].get("m", START_OF_TIME) == START_OF_TIME


def test_silence_of_all_sensors_is_noticed_and_a_sensor_that_comes_back_is_in_time(monkeypatch):
    (connector, views), now, found = given(), [0.0], []

    def sleep(patience):
        now[0] += 1.0
        if now[0] == 60.0:
            connector._given[0].append(batch([(seconds(64), 1)], SCHEMA))

    monkeypatch.setattr("skerry.fjord.runtime.time.sleep", sleep)
    monkeypatch.setattr(Pipeline, "plan_steps", lambda self: Replay(self.connectors, 100, clock=lambda: now[0]))
    runtime = FjordRuntime(Pipeline((connector,), views), MemorySink())
    for outcome, answers in runtime.steps(stopped=lambda: now[0] > 70):
        found += answers["quiet"].column("sensor").to_pylist() if "quiet" in answers else []
        assert all(tally.late == 0 for tally in outcome.tallies.values())
    assert found == [1, 2]
