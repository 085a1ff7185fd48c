import json
from datetime import UTC, datetime

from skerry.model.time import seconds
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether
from skerry.sources.sim.motes.settings import Faults

START = seconds(datetime(2026, 1, 1, tzinfo=UTC).timestamp())


def measure_delays(reorder: float) -> list[float]:
    """How long after their time readings of a mote that measures once in half a minute are sent."""
    ether, delays = Ether(slowest_ms=0.0), []

    def take(topic, payload):
        if topic.endswith("/data"):
            for reading in json.loads(payload)["readings"]:
                at = datetime.fromisoformat(reading["ts"]).replace(tzinfo=UTC).timestamp()
                delays.append(ether.tell_seconds() + START / 1e6 - at)

    ether.listen(take)
    settings = FleetSettings({"air": 1}, sample_period_us=seconds(30), faults=Faults(reorder=reorder))
    Fleet(settings, None, ether=ether, start_us=START).run(seconds=300.0)
    return delays


def test_what_is_held_back_by_a_mote_with_little_to_say_is_not_held_back_for_long():
    plain, reordered = measure_delays(0.0), measure_delays(1.0)
    assert len(plain) == len(reordered) == 10
    assert max(plain) < 2.0
    assert 4.0 < max(reordered) < 8.0
