import pyarrow as pa

from skerry.catalog import Source, Subscription
from skerry.sensors.demand import SourceDemand
from skerry.sensors.keeper import DemandKeeper
from skerry.sensors.messages import SensorState, Setting
from skerry.sensors.proxies import Proxy

ROAD = Source("road", pa.schema({"sensor": pa.string(), "speed": pa.float64()}), "mqtt")


class Sensors:
    """Sensors that have said what they are, and note what they are told."""

    def __init__(self, **states):
        self.states, self.told = states, []

    def want(self, settings, others=None):
        self.told.append((settings, others))

    def list_proxies(self):
        return {name: Proxy(state) for name, state in self.states.items()}


def keep(sensors, **options):
    return DemandKeeper(SourceDemand(ROAD), sensors, **options)


def ask(predicate, name="q"):
    return Subscription(name, "road", predicate)


def test_sensors_are_told_when_something_has_changed_and_not_otherwise():
    sensors = Sensors(a=SensorState(Setting()))
    keeper = keep(sensors)
    keeper.look()
    keeper.look()
    [(settings, _)] = sensors.told
    assert settings["a"].asleep
    keeper.add([ask("speed < 30")])
    keeper.look()
    assert not sensors.told[-1][0]["a"].asleep


def test_sensor_that_is_not_known_is_told_nothing():
    """It may be one that a query names: to sleep would cost it readings until it looks in again."""
    keeper = keep(sensors := Sensors(a=SensorState(Setting())))
    keeper.add([ask("sensor = 'b'")])
    keeper.look()
    assert sensors.told[-1] == ({"a": Setting(asleep=True)}, None)


def test_query_that_is_heard_of_twice_counts_once():
    keeper = keep(sensors := Sensors(a=SensorState(Setting())))
    keeper.add([ask("sensor = 'a'")])
    keeper.add([ask("sensor = 'b'")])
    keeper.look()
    assert sensors.told[-1][0]["a"].asleep
    keeper.remove([ask("sensor = 'b'"), ask("sensor = 'b'")])
    keeper.remove([ask("sensor = 'c'", "never")])
    sensors.states["b"] = SensorState(Setting())
    keeper.look()
    assert sensors.told[-1][0]["b"].asleep


def test_sensors_that_turn_up_are_entered_as_they_describe_themselves():
    entered, sensors = [], Sensors()
    keeper = keep(sensors, put_sensors=entered.extend)
    keeper.look()
    sensors.states["b"] = SensorState(Setting(), kind="loop", latitude=1.0, longitude=2.0, programs=("raw",))
    keeper.look()
    keeper.look()
    assert [(each.name, each.kind, each.latitude, each.programs) for each in entered] == [("b", "loop", 1.0, ("raw",))]
    assert len(sensors.told) == 2
