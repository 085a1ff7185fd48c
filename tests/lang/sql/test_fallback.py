"""What fallback needs to know, and what it does not go with."""

import pytest

from skerry import connect
from skerry.catalog import Sensor
from skerry.errors import OptionError, SkerryError
from skerry.plan.fallback import Fallback, StandIns
from skerry.plan.node import walk
from skerry.plan.select import Select

SOURCE = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='file', path='road.csv'{more});
"""
PERIOD = ", sample_period='10s'"


def plan(query, options="fallback='pair'", more=PERIOD):
    database = connect()
    near = [Sensor(f"n{number}", "road", "vane", 37.0, -122.0 - number / 100) for number in range(6)]
    pair = [Sensor("a", "road", "loop", relations=(("pair_of", "b"),)), Sensor("b", "road", "loop")]
    database.catalog.sensor_entries.enter([*pair, *near])
    database.execute(SOURCE.format(more=more))
    database.execute(f"CREATE MATERIALIZED VIEW slow WITH ({options}) AS {query}")
    [found] = database.plans()
    return found.root


def find(root, kind):
    return next(node for node in walk(root) if isinstance(node, kind))


def test_condition_that_names_sensors_chooses_who_is_read():
    root = plan("SELECT ts FROM road AS r WHERE (speed < 3 OR speed > 5) AND 'a' = r.sensor")
    found = find(root, Fallback)
    assert found.stand_ins == (StandIns("a", ("b",)),)
    assert isinstance(found.input, Select)
    assert "'a', 'b'" in found.input.describe()


def test_condition_that_names_none_concerns_all_with_stand_ins():
    found = find(plan("SELECT ts FROM road WHERE sensor <> 'a'"), Fallback)
    assert [each.sensor for each in found.stand_ins] == ["a", "b"]


def test_similar_are_the_three_nearest():
    found = find(plan("SELECT ts FROM road WHERE sensor = 'n0'", "fallback='similar'"), Fallback)
    assert found.stand_ins == (StandIns("n0", ("n1", "n2", "n3")),)


@pytest.mark.parametrize(
    ("query", "options", "more", "message"),
    [
        ("SELECT ts FROM road", "fallback='pair'", "", "how often 'a' takes a reading"),
        ("SELECT ts FROM road WHERE sensor = 'n0'", "fallback='pair'", PERIOD, "no sensor that is the pair of 'n0'"),
        ("SELECT ts FROM road", "fallback='pear'", PERIOD, "known are pair, replaces, similar"),
        ("SELECT ts FROM road", "taken_by='x'", PERIOD, "goes with fallback"),
        ("SELECT ts FROM road", "fallback='pair', taken_by='Speed'", PERIOD, "has a column of that name"),
        ("SELECT last_ts FROM SILENCE(road, ts, INTERVAL '5' SECOND)", "fallback='pair'", PERIOD, "not for SILENCE"),
        ("SELECT nothing FROM road", "fallback='pair'", PERIOD, "nothing"),
    ],
)
def test_what_is_wrong_is_told(query, options, more, message):
    with pytest.raises(SkerryError, match=message):
        plan(query, options, more)


def test_view_of_a_view_is_refused():
    database = connect()
    database.execute(SOURCE.format(more=PERIOD))
    database.execute("CREATE MATERIALIZED VIEW all_of_it AS SELECT * FROM road")
    with pytest.raises(OptionError, match="'all_of_it' is a view; give that one the option"):
        database.execute("CREATE MATERIALIZED VIEW x WITH (fallback='pair') AS SELECT ts FROM all_of_it")
