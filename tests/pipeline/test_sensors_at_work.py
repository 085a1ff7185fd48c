"""A fleet on a real broker does what the queries of a run want, as they come and go."""

import threading
import time

import pytest

from skerry import connect
from skerry.catalog import Subscription
from skerry.database import Settings
from skerry.sensors.broker_address import BrokerAddress
from skerry.sinks.memory import MemorySink
from skerry.sources.sim.motes.fleet import Fleet
from skerry.sources.sim.motes.settings import FleetSettings
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto

pytestmark = needs_mosquitto

SCRIPT = """
CREATE SOURCE town (sensor VARCHAR, ts TIMESTAMP, pm25 DOUBLE, no2 DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH (connector='mqtt', url='{url}', topic='town/{{sensor}}/data', sequence='seq');
CREATE MATERIALIZED VIEW dusty AS SELECT sensor, ts, pm25 FROM town WHERE sensor = 'air-0001' AND pm25 > 2;
"""
PATIENCE_SECONDS = 90


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.05)


class AtWork:
    """A fleet and a run, each in a thread, until the block ends."""

    def __init__(self, url, project):
        # Windows are far apart and long, so that a busy machine lets none pass while it is late itself.
        settings = FleetSettings({"air": 4}, "town", publish_every_s=3.0, look_in_every_s=3.0, listens_ms=2_500.0)
        self.fleet = Fleet(settings, BrokerAddress.parse(url))
        self.database, self.sink = connect(project), MemorySink()
        self.database.execute(SCRIPT.format(url=url))
        self._project, self._ending = project, threading.Event()
        self._threads = [threading.Thread(target=each) for each in (self._run, self._simulate)]

    def _run(self):
        connect(self._project).run(self.sink, Settings("fjord"), stopped=self._ending.is_set)

    def _simulate(self):
        self.fleet.run(stopped=self._ending.is_set)

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def count_windows(self):
        return {mote.name: mote.windows for mote in self.fleet.motes}

    def awake(self):
        return {mote.name: mote.setting.program for mote in self.fleet.motes if not mote.setting.asleep}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("in_time", [False, pytest.param(True, marks=[pytest.mark.soak, pytest.mark.whole])])
def test_sensors_wake_and_sleep_with_the_queries_that_want_them(tmp_path, in_time):
    """A machine with nothing else to do answers ``in_time``: within two windows, and never outside of one."""
    with Broker() as broker, AtWork(broker.url, tmp_path) as at_work:
        wait_for(lambda: at_work.awake() == {"air-0001": "dust"})
        asleep = at_work.count_windows()
        at_work.database.subscribe([Subscription("q", "town", "sensor = 'air-0003' AND no2 > 1000")])
        wait_for(lambda: at_work.awake() == {"air-0001": "dust", "air-0003": "raw"})
        [mote] = [mote for mote in at_work.fleet.motes if mote.name == "air-0003"]
        assert mote.setting.columns == ("sensor", "ts", "pm25", "no2")
        woken = mote.taken_in_window - asleep["air-0003"]
        awake = at_work.count_windows()
        at_work.database.unsubscribe(["q"])
        wait_for(lambda: at_work.awake() == {"air-0001": "dust"})
        slept = mote.taken_in_window - awake["air-0003"]
        at_work.database.execute("CREATE MATERIALIZED VIEW foul AS SELECT ts, no2 FROM town WHERE sensor = 'air-0002'")
        wait_for(lambda: at_work.awake().keys() == {"air-0001", "air-0002"})
        at_work.database.remove(["foul"])
        wait_for(lambda: at_work.awake() == {"air-0001": "dust"})
        outside = sum(each.outside for each in at_work.fleet.motes)
        known = {sensor.name: (sensor.kind, sensor.programs) for sensor in at_work.database.catalog.sensors()}
        assert known == {f"air-{number:04}": ("air", ("raw", "dust", "means")) for number in range(4)}
    found = set(at_work.sink.table("dusty").column("sensor").to_pylist())
    assert found == {"air-0001"}
    assert not in_time or (woken <= 2 and slept <= 2 and outside == 0)
