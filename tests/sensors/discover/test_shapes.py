"""Shapes that other people's devices send: values without keys, lists inside, no times, wrong clocks, kept messages."""

import json

import pytest

from skerry.model.time import seconds
from skerry.sensors.discover import Sample, propose

NOW = 1_790_000_000


def send(topic, payload, at=NOW, retained=False):
    text = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return Sample(topic, text, seconds(at), retained)


def values(topics, made, count=5):
    return [send(topic, made(number), NOW + number) for number in range(count) for topic in topics]


def describe(samples):
    return {(found.topic, found.value_column): found.columns.get(found.value_column) for found in propose(samples)}


def test_each_quantity_is_a_source_of_its_values():
    rooms = ["bath", "hall", "attic"]
    samples = values([f"home/{room}/temperature" for room in rooms], lambda number: 20 + number / 2)
    samples += values([f"home/{room}/humidity" for room in rooms], lambda number: 40 + number)
    samples += values(["home/hall/light"], lambda number: b"ON" if number % 2 else b"OFF")
    assert describe(samples) == {
        ("home/{sensor}/temperature", "temperature"): "DOUBLE",
        ("home/{sensor}/humidity", "humidity"): "DOUBLE",
        ("home/{sensor}/light", "light"): "VARCHAR",
    }
    (found,) = [each for each in propose(samples) if each.name == "temperature"]
    assert [sensor.name for sensor in found.sensors] == sorted(rooms)
    assert (found.has_arrival_time, found.columns["ts"], found.sample_period_us) == (True, "TIMESTAMP", seconds(1))


@pytest.mark.parametrize(
    ("topics", "made", "expected"),
    [
        (["cellar/t1", "cellar/t2"], lambda n: n, {("cellar/{sensor}", "value"): "DOUBLE"}),
        (["plant/press"], lambda n: [n, 2.5], {("plant/press", "press"): "DOUBLE"}),
        (
            ["n1/sensor/temp/state", "n2/sensor/temp/state"],
            lambda n: 1.5,
            {("{sensor}/sensor/temp/state", "temp"): "DOUBLE"},
        ),
        (["a/open", "b/open"], lambda n: n > 2, {("{sensor}/open", "open"): "BOOLEAN"}),
        (["a/7", "b/7"], lambda n: b"20.5 C", {("{sensor}/7", "value"): "VARCHAR"}),
        (["a/x", "b/x"], lambda n: b"unknown" if n == 2 else 3, {("{sensor}/x", "x"): "DOUBLE"}),
    ],
)
def test_level_that_says_what_is_measured_names_the_column(topics, made, expected):
    assert describe(values(topics, made)) == expected


def test_values_among_objects_are_garbled():
    samples = [*values(["a/b", "a/c"], lambda n: {"ts": NOW + n, "x": 1}), send("a/b", 7)]
    (found,) = propose(samples)
    assert (found.value_column, found.garbled, found.readings) == (None, 1, 10)


def test_state_of_another_system_is_a_reading_and_makes_no_sensor():
    samples = values(["zigbee/lamp", "zigbee/door"], lambda n: {"ts": NOW + n, "on": True})
    samples.append(send("zigbee/bridge/state", {"state": "online"}, retained=True))
    lamps, bridge = propose(samples)
    assert [sensor.name for sensor in lamps.sensors] == ["door", "lamp"]
    assert "kept by the broker" in bridge.notes[1]


def test_sensors_that_differ_in_their_rates_keep_them():
    samples = [send("f/a/data", {"ts": NOW + n}, NOW + n) for n in range(20)]
    samples += [send("f/b/data", {"ts": NOW + 5 * n}, NOW + 5 * n) for n in range(5)]
    (found,) = propose(samples)
    assert found.sample_period_us is None
    assert [sensor.sample_period_us for sensor in found.sensors] == [seconds(1), seconds(5)]
    assert any("1s (1), 5s (1)" in note for note in found.notes)


def test_clocks_that_are_ahead_are_named_and_shut_out():
    samples = values([f"f/{name}/data" for name in "abc"], lambda n: {"ts": NOW + n})
    ahead = values(["f/d/data"], lambda n: {"ts": NOW + 4_000 + n})
    (found,) = propose([*samples, *ahead])
    assert found.max_ahead_us == seconds(60)
    assert found.notes == ("clocks that are ahead, whose readings max_ahead rejects: d",)
    (behind,) = propose([*samples, *values(["f/d/data"], lambda n: {"ts": NOW - 4_000 + n})])
    assert behind.max_ahead_us is None


def test_kept_messages_say_nothing_of_delays_and_rates():
    kept = [send(f"f/{name}/data", {"ts": NOW - 900 * n}, retained=True) for n, name in enumerate("abc")]
    (found,) = propose([*kept, *values([f"f/{name}/data" for name in "abc"], lambda n: {"ts": NOW + n})])
    assert (found.delay_us, found.sample_period_us) == (seconds(5), seconds(1))


def test_column_without_values_has_the_type_of_its_unit():
    state = {"control": 0, "units": {"speed": "mph"}}
    samples = values(["f/a/data"], lambda n: {"ts": NOW + n, "speed": None, "depth_cm": None, "note": None})
    (found,) = propose([*samples, send("f/a/state", state, retained=True)])
    assert {name: found.columns[name] for name in ("speed", "depth_cm", "note")} == {
        "speed": "DOUBLE",
        "depth_cm": "DOUBLE",
        "note": "VARCHAR",
    }


def test_sensors_that_share_a_name_are_told():
    samples = values([f"house/{house}/room/{room}" for house in "AB" for room in (1, 2, 3)], lambda n: {"ts": NOW + n})
    (found,) = propose(samples)
    assert found.topic == "house/{level_2}/room/{sensor}"
    assert found.notes == ("6 topics have 3 names of sensors: other levels of the topic tell them apart",)


def quantities(places, names, made=lambda name, n: 20 + n):
    return [
        send(f"{place}/{name}", {"ts": NOW + n, "value": made(name, n)}, NOW + n)
        for n in range(4)
        for place in places
        for name in names
    ]


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (
            quantities(["site/a", "site/b"], ["temperature", "humidity", "co2"]),
            {"site/{sensor}/temperature", "site/{sensor}/humidity", "site/{sensor}/co2"},
        ),
        (
            quantities(["temperature/site", "humidity/site"], ["a", "b"]),
            {"temperature/site/{sensor}", "humidity/site/{sensor}"},
        ),
        (quantities(["line/1", "line/2"], ["kiln", "press", "saw"]), {"line/{level_2}/{sensor}"}),
        (
            quantities(["hall/a", "hall/b"], ["gate", "lamp"], lambda name, n: 1.5 if name == "lamp" else "open"),
            {"hall/{sensor}/gate", "hall/{sensor}/lamp"},
        ),
        (quantities(["plant"], ["temp1", "temp2"]), {"plant/{sensor}"}),
        (
            [*quantities(["s/a", "s/b", "s/c"], ["temperature"]), *quantities(["s/a"], ["humidity"])],
            {"s/{sensor}/temperature", "s/{sensor}/humidity"},
        ),
    ],
    ids=["last", "first", "unknown", "other values", "one owner", "some have more"],
)
def test_level_that_tells_kinds_makes_a_source_of_each(samples, expected):
    assert {found.topic for found in propose(samples)} == expected


def test_kinds_that_carry_their_own_columns_are_told_apart_though_there_are_more_of_them_than_sensors():
    samples = [
        send(f"s/{place}/{name}", {"ts": NOW + n, name: n}, NOW + n)
        for n in range(4)
        for place in "ab"
        for name in ("wax", "wane", "wend")
    ]
    assert {found.topic for found in propose(samples)} == {"s/{sensor}/wax", "s/{sensor}/wane", "s/{sensor}/wend"}


def test_bare_values_are_told_apart_by_a_level_before_the_sensor():
    samples = values(["temperature/bath", "temperature/hall", "humidity/bath", "humidity/hall"], lambda n: 20 + n)
    assert describe(samples) == {
        ("temperature/{sensor}", "temperature"): "DOUBLE",
        ("humidity/{sensor}", "humidity"): "DOUBLE",
    }


def test_whole_numbers_of_what_is_measured_may_have_fractions_later():
    said = {"temperature": 20, "depth_cm": 7, "oil": 3, "value": 5, "lane": 2, "count": 9}
    state = {"control": 0, "units": {"oil": "l"}}
    samples = values(["f/a/data", "f/b/data"], lambda n: {"ts": NOW + n, "fcnt": n, **said})
    (found,) = propose([*samples, send("f/a/state", state, retained=True)])
    assert {name: found.columns[name] for name in said} == {
        **dict.fromkeys(["temperature", "depth_cm", "oil", "value"], "DOUBLE"),
        **dict.fromkeys(["lane", "count"], "BIGINT"),
    }
    assert (found.sequence, found.columns["fcnt"]) == ("fcnt", "BIGINT")


def test_column_that_is_a_number_here_and_a_text_there_is_a_text():
    samples = values(["f/a/data"], lambda n: {"ts": NOW + n, "x": n})
    samples += values(["f/b/data"], lambda n: {"ts": NOW + n, "x": f"n{n}"})
    (found,) = propose(samples)
    assert found.columns["x"] == "VARCHAR"


def test_what_is_measured_is_no_sequence_though_it_grows():
    samples = values(["f/a/data", "f/b/data"], lambda n: {"ts": NOW + n, "value": n, "depth_cm": n})
    assert propose(samples)[0].sequence is None


def test_readings_without_a_time_have_no_sequence():
    """One that counts anew after a restart would say the same as before, and be left out."""
    samples = values(["f/a/data", "f/b/data"], lambda n: {"seq": n})
    assert (propose(samples)[0].sequence, propose(samples)[0].has_arrival_time) == (None, True)


def test_column_of_nothing_but_null_is_a_number_if_it_is_measured():
    samples = values(["f/a/data", "f/b/data"], lambda n: {"ts": NOW + n, "temperature": None})
    assert propose(samples)[0].columns["temperature"] == "DOUBLE"


def test_sources_do_not_share_topics():
    """Sensors that say their states make a group of their own; others are none of theirs."""
    samples = values(
        [f"{first}/{name}/data" for first in ("i80", "x", "y") for name in "ab"], lambda n: {"ts": NOW + n}
    )
    found = propose([*samples, send("i80/a/state", {"control": 0, "kind": "loop"})])
    assert {each.topic: each.readings for each in found} == {
        "i80/{sensor}/data": 10,
        "x/{sensor}/data": 10,
        "y/{sensor}/data": 10,
    }
