from skerry.catalog import Sensor, Subscription
from skerry.cli.demand import describe_sensor_demand, find_demands
from skerry.database import connect
from tests.cli.test_explain import SIM


def road(tmp_path):
    database = connect(tmp_path)
    database.execute(SIM)
    return database


def test_a_sensor_is_told_of_before_its_source_was_run(tmp_path):
    loop = Sensor("i80-e-01-u", "traffic", "loop")
    lines = describe_sensor_demand(road(tmp_path), loop).splitlines()
    assert lines[0] == "i80-e-01-u must deliver:"
    assert lines[-1].startswith(
        "    without view slow: it would sleep: 0.0645 mW, which is 0.0379 mW less, and 323.1 days"
    )
    assert describe_sensor_demand(road(tmp_path), Sensor("i80-w-01-u", "traffic", "loop")).startswith(
        "i80-w-01-u sleeps: no query concerns it; 0.0645 mW"
    )


def test_subscriptions_count_as_views_do(tmp_path):
    database = road(tmp_path)
    database.subscribe([Subscription("q", "traffic", "sensor = 'i80-w-01-u' AND flow > 5")])
    (demand,) = find_demands(database).values()
    assert demand.queries == ("view slow", "subscription q")
    assert demand.setting("i80-w-01-u").ranges == {"flow": ((6.0, None),)}


def test_what_the_catalogue_says_of_sensors_counts_first(tmp_path):
    database = road(tmp_path)
    database.catalog.put_sensors("traffic", [Sensor("i80-e-99-u", "traffic", "loop")])
    assert list(find_demands(database)["traffic"].sensors) == ["i80-e-99-u"]
