import json
import random

import cbor2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import Micros, seconds
from skerry.sensors.discover import Sample, propose
from skerry.sensors.discover.script import list_options, write_script
from skerry.sensors.messages import SensorState, Setting
from skerry.sources.mqtt.topic import Topic

NOW = 1_790_000_000
FORMS = {
    "s": lambda moment: moment,
    "ms": lambda moment: round(moment * 1e3),
    "us": lambda moment: round(moment * 1e6),
    "ns": lambda moment: round(moment * 1e9),
}
ENCODERS = {"JSON": lambda said: json.dumps(said).encode(), "CBOR": cbor2.dumps}


def message(topic, said, at=NOW, encode="JSON", retained=False):
    return Sample(topic, ENCODERS[encode](said), seconds(at), retained)


def heard(topics=("i80/a/data", "i80/b/data"), count=5, encode="JSON", **columns):
    """Messages of some sensors, one a second: values that are functions are given the number of the message."""
    return [
        message(topic, {name: made(number) for name, made in columns.items()}, NOW + number, encode)
        for number in range(count)
        for topic in topics
    ]


def only(samples):
    (found,) = propose(samples)
    return found


@pytest.mark.parametrize("encode", ENCODERS)
@pytest.mark.parametrize("unit", FORMS)
def test_number_since_1970_is_the_event_time(encode, unit):
    found = only(heard(encode=encode, ts=lambda number: FORMS[unit](NOW + number), speed=lambda number: number / 2))
    assert (found.event_time.name, found.event_time.unit, found.encoding) == ("ts", unit, encode)
    assert found.columns == {"sensor": "VARCHAR", "ts": "TIMESTAMP", "speed": "DOUBLE"}


@pytest.mark.parametrize("written", ["2026-09-20T10:00:0{}Z", "2026-09-20 10:00:0{}.250", "2026-09-20T10:00:0{}+02:00"])
def test_text_that_is_a_time_is_the_event_time(written):
    found = only(heard(measured=written.format, flow=int))
    assert (found.event_time.name, found.event_time.unit) == ("measured", None)


def test_numbers_that_are_no_times_are_none():
    found = only(heard(serial=lambda number: 1_790_000_000 - 10**8 * number, speed=float))
    assert (found.event_time.name, found.has_arrival_time) == ("ts", True)
    assert found.columns["serial"] == "BIGINT"


def test_types_are_those_of_the_values():
    found = only(
        heard(n=int, x=float, on=lambda number: number > 2, note=str, gone=lambda number: None, more=lambda n: [n])
    )
    types = {"n": "BIGINT", "x": "DOUBLE", "on": "BOOLEAN", "note": "VARCHAR", "gone": "VARCHAR", "more": "JSON"}
    assert found.columns == {"sensor": "VARCHAR", "ts": "TIMESTAMP", **types}
    assert [note.rpartition(": ")[2] for note in found.notes[1:]] == ["gone", "more"]


def test_sequence_is_the_number_that_grows_by_one():
    found = only(
        heard(ts=lambda number: NOW + number, flow=lambda number: number % 2, count_of=lambda number: 7 + number)
    )
    assert found.sequence == "count_of"


def test_message_may_carry_several_readings():
    def batch(number):
        return {
            "readings": [{"ts": NOW + number + part / 10, "x": 0.5} for part in range(3)],
            "seq": number,
            "listens_ms": 50,
        }

    found = only([message(f"i80/{name}/data", batch(number), NOW + number) for number in range(4) for name in "ab"])
    assert (found.sequence, found.readings, set(found.columns)) == (None, 24, {"sensor", "ts", "x"})


def test_rate_is_that_of_most_readings_of_a_sensor():
    found = only(heard(ts=lambda number: NOW + 0.25 * number, x=float, count=9))
    assert found.sample_period_us == 250_000
    assert {sensor.sample_period_us for sensor in found.sensors} == {250_000}


def test_order_of_arrival_makes_the_delay():
    late = [
        message("i80/a/data", {"ts": NOW + number - (20 if number % 3 else 0)}, NOW + number) for number in range(60)
    ]
    assert only(late).delay_us == seconds(60)


def test_wrong_clock_does_not_make_the_delay():
    right = heard(["i80/a/data", "i80/b/data", "i80/c/data"], 20, ts=lambda number: NOW + number)
    ahead = heard(["i80/d/data"], 20, ts=lambda number: NOW + 3000 + number)
    assert only([*right, *ahead]).delay_us == seconds(5)


@pytest.mark.parametrize("seed", range(5))
def test_sequence_is_found_though_messages_come_twice_late_or_never(seed):
    draw = random.Random(seed)
    sent = heard(
        count=40, ts=lambda n: NOW + n, flow=lambda n: draw.randrange(9), lane=lambda n: 3, seq=lambda n: 100 + n
    )
    sent = [each for each in sent if draw.random() > 0.05]
    twice = [copy for each in sent for copy in ([each, each] if draw.random() < 0.1 else [each])]
    for place in range(0, len(twice) - 4, 10):
        twice[place], twice[place + 4] = twice[place + 4], twice[place]
    arrived = [Sample(each.topic, each.payload, seconds(NOW + number)) for number, each in enumerate(twice)]
    assert only(arrived).sequence == "seq"


def test_whole_numbers_that_do_not_count_are_no_sequence():
    draw = random.Random(1)
    found = only(heard(count=40, ts=lambda n: NOW + n, flow=lambda n: draw.randrange(50), lane=lambda n: 3))
    assert found.sequence is None


def test_states_say_what_sensors_are():
    state = SensorState(
        Setting("raw", seconds(2)), 0, 0.9, 50, "loop", 37.8, -122.3, ("raw", "counts"), {"speed": "mph"}
    )
    samples = [*heard(ts=lambda n: NOW + n, speed=float), message("i80/a/state", state.to_json(), retained=True)]
    first, second = only([*samples, message("i80/a/control", {"control": 1, "asleep": False})]).sensors
    assert (first.kind, first.latitude, first.longitude, first.units) == ("loop", 37.8, -122.3, {"speed": "mph"})
    assert (first.programs, first.sample_period_us) == (("raw", "counts"), seconds(2))
    assert (second.name, second.kind) == ("b", "sensor")


def test_units_follow_from_names():
    (sensor, _) = only(heard(temperature_c=float, pm25_ug_m3=float, flow=int)).sensors
    assert sensor.units == {"temperature_c": "°C", "pm25_ug_m3": "µg/m³"}


def test_sensors_that_fill_different_columns_of_one_source_name_theirs():
    samples = [
        *heard(["f/a/data"], pm=float, ts=lambda n: NOW + n),
        *heard(["f/b/data"], rms=float, ts=lambda n: NOW + n),
    ]
    samples += [message(f"f/{name}/state", {"control": 0, "kind": name}) for name in "ab"]
    found = only(samples)
    assert [sensor.columns for sensor in found.sensors] == [("sensor", "pm", "ts"), ("sensor", "ts", "rms")]


@pytest.mark.parametrize(
    ("topics", "patterns"),
    [
        (["i80/a/data", "i80/b/data"], ["i80/{sensor}/data"]),
        (["site/north/a", "site/north/b", "site/south/c"], ["site/{level_2}/{sensor}"]),
        (["a", "b", "c"], ["{sensor}"]),
        (["i80/a/data"], ["i80/{sensor}/data"]),
        (["plant/speed"], ["plant/speed"]),
        (["br{ace}/a/data", "br{ace}/b/data"], ["+/{sensor}/data"]),
        (["pl{ant/speed"], ["+/speed"]),
    ],
)
def test_level_that_differs_names_the_sensor(topics, patterns):
    assert [found.topic for found in propose(heard(topics, ts=lambda n: NOW + n, x=float))] == patterns


def test_level_that_tells_other_columns_apart_makes_sources():
    samples = [*heard(["p/air/a", "p/air/b"], pm=float), *heard(["p/soil/c", "p/soil/d"], moisture=float)]
    found = propose(samples)
    assert [(each.name, each.topic) for each in found] == [("air", "p/air/{sensor}"), ("soil", "p/soil/{sensor}")]
    assert {sensor.source for sensor in found[1].sensors} == {"soil"}


def test_garbage_among_the_messages_changes_nothing():
    draw = random.Random(7)
    whole = heard(count=60, ts=lambda n: NOW * 1000 + 1000 * n, speed=float, seq=int)
    broken = [Sample(each.topic, draw.randbytes(20), each.arrived_us) for each in whole[::7]]
    yesterday = [message(whole[0].topic, {"ts": "yesterday", "speed": 1.0, "seq": 3}, NOW + 3)]
    found, clean = only([*whole, *broken, *yesterday]), only(whole)
    assert (found.columns, found.event_time, found.sequence) == (clean.columns, clean.event_time, clean.sequence)
    assert found.garbled > 0


def test_what_carries_no_readings_gives_no_proposal():
    garbage = [b"", b"{}", b"[]", b"null", b"\xff\xfe", b'{"x": ', b"x" * 300]
    assert propose([Sample("a/b", each, Micros(0)) for each in garbage]) == []
    assert propose([Sample("$SYS/x", b"20.5", Micros(0)), Sample("a/b/control", b"20.5", Micros(0))]) == []


def test_script_of_a_proposal_declares_the_source():
    found = only(heard(ts=lambda n: (NOW + n) * 1000, speed=float, seq=int))
    script = write_script(found, {"connector": "mqtt", "url": "mqtt://h", "topic": found.topic, **list_options(found)})
    session = Session(Catalog.in_memory())
    session.execute(script)
    (source,) = session.catalog.sources()
    options = {"url": "mqtt://h", "topic": "i80/{sensor}/data", "event_time_unit": "ms", "sequence": "seq"}
    assert source.options == options
    assert (source.event_time, source.delay_us, source.sample_period_us) == ("ts", seconds(5), seconds(1))
    assert session.plan("i80_readings").root.schema.names == ["sensor", "ts", "speed", "seq"]


@settings(max_examples=40, deadline=None)
@given(
    topics=st.lists(st.text("ab/'\"{}- é1", min_size=1, max_size=8), min_size=1, max_size=4),
    payloads=st.lists(
        st.binary(max_size=12)
        | st.sampled_from([b"20.5", b"7", b"ON", b'"x"', b"true", b"[1, 2.5]", b"[[1]]"])
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["C"]), max_size=4) | st.sampled_from(["ts", "select", "x"]),
            st.none()
            | st.booleans()
            | st.integers()
            | st.floats()
            | st.text(max_size=4)
            | st.lists(st.none(), max_size=1),
            max_size=3,
        ).map(lambda said: json.dumps(said).encode()),
        max_size=8,
    ),
)
def test_whatever_is_heard_gives_scripts_that_can_be_read(topics, payloads):
    samples = [Sample(topics[number % len(topics)], each, seconds(number)) for number, each in enumerate(payloads)]
    for found in propose(samples):
        session = Session(Catalog.in_memory())
        session.execute(write_script(found, {"connector": "mqtt", "topic": found.topic, **list_options(found)}))
        (source,) = session.catalog.sources()
        assert dict(zip(source.schema.names, source.schema.types, strict=True)).keys() == set(found.columns)
        assert set(Topic.parse(found.topic).columns) <= set(found.columns)
        session.catalog.close()
