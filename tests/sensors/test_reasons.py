import pytest

from skerry.catalog import Catalog, Sensor
from skerry.lang.sql import Session
from skerry.sensors.describe_demand import describe_demand, describe_sensor
from skerry.sensors.reasons import explain_sensor, settings_without
from tests.sensors.test_choose_program import COUNTS, MODEL, RAW
from tests.sensors.test_demand import demand_of, road

FLEET = [Sensor(name, "road", "loop", programs=("raw",)) for name in ("a", "b", "c")]
VIEWS = """CREATE MATERIALIZED VIEW slow WITH (sample_period='1s') AS SELECT d FROM road WHERE s = 'a' AND d < 30;
CREATE MATERIALIZED VIEW all_of_two AS SELECT i FROM road WHERE s IN ('a', 'b') AND i BETWEEN 3 AND 5;"""


@pytest.fixture
def demand():
    return demand_of(road(VIEWS, ", sample_period='5s'"), sensors=FLEET)


def test_each_part_of_a_setting_has_its_reason(demand):
    reasons = explain_sensor(demand, "a")
    assert reasons.awake.queries == ("view slow", "view all_of_two")
    assert str(reasons.rate) == "view slow"
    assert {name: str(forced) for name, forced in reasons.columns if forced.count == 1} == {
        "i": "view all_of_two",
        "d": "view slow",
    }
    assert {name: str(forced) for name, forced in reasons.unbounded} == {"d": "view all_of_two", "i": "view slow"}


def test_each_end_of_a_range_has_its_reason(demand):
    demand.remove("view slow")
    ((column, ((low, high),)),) = explain_sensor(demand, "b").ends
    assert (column, str(low), str(high)) == ("i", "view all_of_two", "view all_of_two")


def test_what_dropping_a_query_would_change_leaves_the_demand_as_it_was(demand):
    before = demand.settings()
    without = settings_without(demand, "view slow")
    assert {name: setting.sample_period_us for name, (setting, _) in without.items()} == {"a": 5_000_000}
    assert demand.settings() == before


def test_demand_is_described_by_groups_of_sensors(demand):
    assert describe_demand(demand).splitlines() == [
        "sensors of road: 3, of which 2 are awake and 1 asleep",
        "  1 (a), awake for view slow, view all_of_two",
        "    rate: every 1s, for view slow",
        "    program: left to the sensor",
        "    columns: i (for view all_of_two), d (for view slow), t, s",
        "    range of d: all values, for view all_of_two",
        "    range of i: all values, for view slow",
        "  1 (b), awake for view all_of_two",
        "    rate: every 5s, for view all_of_two",
        "    program: left to the sensor",
        "    columns: i, t, s",
        "    range of i: 3 to 5 (view all_of_two)",
        "  1 (c): asleep, no query concerns them",
    ]


def test_one_sensor_is_described_with_what_each_query_costs_it(demand):
    lines = describe_sensor(demand, "a").splitlines()
    assert lines[0] == "a must deliver:"
    assert lines[-2:] == [
        "    without view all_of_two: it would leave out i, send fewer values of d",
        "    without view slow: it would sample every 5s, leave out d, send fewer values of i",
    ]
    assert describe_sensor(demand, "c") == "c sleeps: no query concerns it"


FLOW = """CREATE SOURCE road (s VARCHAR, t TIMESTAMP, speed DOUBLE, flow INT, WATERMARK FOR t AS t)
WITH (connector='mqtt', topic='x/{s}/data', sample_period='500ms');
CREATE MATERIALIZED VIEW slow WITH (sample_period='100ms') AS SELECT speed FROM road WHERE s = 'a';
CREATE MATERIALIZED VIEW counts AS SELECT flow FROM road WHERE s IN ('a', 'b');"""


def test_power_and_the_most_costly_query_are_told():
    session = Session(Catalog.in_memory())
    session.execute(FLOW)
    demand = demand_of(session, sensors=FLEET, programs_of=lambda sensor: (RAW, COUNTS), estimate=MODEL)
    lines = describe_demand(demand).splitlines()
    assert "    program: raw, for speed (view slow)" in lines
    assert "    program: counts, the cheapest" in lines
    assert "    power: 1.6 mW, 13.0 days on a battery each" in lines
    assert lines[-2:] == [
        "  together 1.68 mW",
        "  without view slow: 1.52 mW less, 1 would last longer (up to 260.4 days, not 13.0 days)",
    ]


def test_all_queries_that_force_the_setting_of_a_group_are_told():
    session = Session(Catalog.in_memory())
    session.execute(FLOW.partition("CREATE MATERIALIZED")[0])
    session.execute("CREATE MATERIALIZED VIEW one AS SELECT speed FROM road WHERE s = 'a'")
    session.execute("CREATE MATERIALIZED VIEW two AS SELECT speed FROM road WHERE s IN ('b', 'c')")
    demand = demand_of(session, sensors=FLEET, programs_of=lambda sensor: (RAW,), estimate=MODEL)
    lines = describe_demand(demand).splitlines()
    assert lines[1:4] == [
        "  3 (a, b, c), awake for view one, view two",
        "    rate: every 500ms, for view one, view two",
        "    program: raw, the cheapest",
    ]
    assert lines[-1].startswith("  without view two: 0.64 mW less, 2 would sleep")


def test_a_lifetime_that_keeps_the_rate_down_is_told_with_who_asked_for_it():
    session = Session(Catalog.in_memory())
    session.execute(FLOW.replace("sample_period='500ms'", "battery_lifetime='90 days'"))
    demand = demand_of(session, sensors=FLEET, programs_of=lambda sensor: (RAW,), estimate=MODEL)
    (rate, other) = [line.strip() for line in describe_demand(demand).splitlines() if "rate" in line]
    kept = "rate: every 691.2ms, as often as the battery allows with the battery_lifetime of source road"
    assert (rate, other) == (f"{kept}; view slow would have it faster", kept)
