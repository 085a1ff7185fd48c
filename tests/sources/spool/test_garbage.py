"""Whatever is sent, each reading is answered or is a dead letter with a reason; what is sound is always answered."""

import json
import random
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace

import paho.mqtt.client as paho
import pytest

from skerry import connect
from skerry.database import Settings
from skerry.fjord.runtime import FjordRuntime
from skerry.pipeline.runtime import RunOptions
from skerry.sensors.messages import Setting
from skerry.sinks.memory import MemorySink
from skerry.sources.mqtt.client import MqttReceiving
from skerry.sources.mqtt.connector import MqttConnector
from skerry.sources.source import Split
from tests.sources.spool.garbage import BAD, GOOD, make_cbor, make_csv, make_json, make_json_line, make_state

MQTT = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, value DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='mqtt', url='mqtt://localhost', topic='road/{{sensor}}/data', encoding='{encoding}');
CREATE MATERIALIZED VIEW found AS SELECT sensor, value FROM road;
"""
FOLDER = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, value DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='folder', path='*.{suffix}', settle='0s');
CREATE MATERIALIZED VIEW found AS SELECT sensor, value FROM road;
"""
PATIENCE_SECONDS = 240
SOME = [300, pytest.param(10_000, marks=[pytest.mark.soak, pytest.mark.timeout(600)])]


class Unconnected(MqttReceiving):
    """Takes messages as from a broker, without one."""

    def __enter__(self):
        self._receiver.__enter__()
        return self

    def __exit__(self, *_):
        self._receiver.__exit__(None, None, None)


@dataclass(frozen=True)
class GivenMessages(MqttConnector):
    """An MQTT source whose messages are given."""

    payloads: tuple = ()

    @contextmanager
    def receive(self):
        receiving = Unconnected("road", self.options, self.base, self._find_folder(), self._identity())
        with receiving:
            for number, payload in enumerate(self.payloads):
                message = paho.MQTTMessage(topic=f"road/{number}/data".encode())
                message.payload, message.qos = payload.data, 1
                receiving._on_message(None, None, message)
            yield receiving


def run(database, count, give=None):
    """Run in process until so many readings have come in; give the sink and the tally."""
    sink, seen, deadline = MemorySink(), [], time.monotonic() + PATIENCE_SECONDS
    pipeline = database.pipeline(database.plans(), Settings("fjord"))
    if give:
        [known] = pipeline.connectors
        pipeline = replace(pipeline, connectors=(GivenMessages(**vars(known), payloads=give),))

    def is_done():
        assert time.monotonic() < deadline, f"{seen[-1:]} of {count} readings have come"
        return bool(seen) and seen[-1].read >= count

    options = RunOptions(catalog=database.catalog)
    outcome = FjordRuntime(pipeline, sink, options).run(
        stopped=is_done, watch=lambda outcome: seen.append(outcome.tallies["road"])
    )
    return sink, outcome.tallies["road"]


def check(payloads, name_of, sink, tally):
    """Each payload has come to as many answers and dead letters as it has readings, and to those that it must."""
    answered = Counter(sink.table("found").column("sensor").to_pylist())
    letters = sink.table("dead_letters/road")
    rejected = Counter(map(name_of, letters.column("place").to_pylist()))
    assert all(letters.column("reason").to_pylist())
    for number, payload in enumerate(payloads):
        found = answered[str(number)], rejected[str(number)]
        assert sum(found) == payload.readings, (payload, found)
        assert payload.verdict != GOOD or not found[1], (payload, found)
        assert payload.verdict != BAD or not found[0], (payload, found)
    total = sum(payload.readings for payload in payloads)
    assert (tally.read, tally.late) == (total, 0)
    assert tally.accepted == answered.total()


@pytest.mark.parametrize("count", SOME)
@pytest.mark.parametrize(("encoding", "make"), [("json", make_json), ("cbor", make_cbor)])
def test_each_message_is_answered_or_a_dead_letter(encoding, make, count, tmp_path):
    random_ = random.Random(count)
    payloads = tuple(make(random_) for _ in range(count))
    database = connect(tmp_path)
    database.execute(MQTT.format(encoding=encoding))
    sink, tally = run(database, sum(payload.readings for payload in payloads), payloads)
    check(payloads, lambda place: place.split("/")[1], sink, tally)


@pytest.mark.parametrize("count", SOME)
def test_each_state_is_taken_or_a_dead_letter(count, tmp_path):
    random_ = random.Random(count)
    database = connect(tmp_path)
    database.execute(MQTT.format(encoding="json"))
    [opened] = database.pipeline(database.plans(), Settings("fjord")).connectors
    source = opened.spool_in(tmp_path / "spool")
    folder, identity = source._find_folder(), source._identity()
    with Unconnected("road", source.options, source.base, folder, identity) as receiving:
        receiving.want({}, Setting("raw", ranges={"value": ((0.0, None),)}))
        for number in range(count):
            message = paho.MQTTMessage(topic=f"road/{number % 50}/state".encode())
            message.payload, message.qos = make_state(random_), 1
            receiving._on_message(None, None, message)
    receiving.check()
    [lane] = source.lanes()
    parts = source.read(Split("road", lane.name, 0, lane.count()))
    reasons = [reason for part in parts for reason in part.rejects.column("reason").to_pylist()]
    states = [proxy.state.to_json() for proxy in receiving.list_proxies().values() if proxy.state]
    assert json.dumps(states, allow_nan=False)
    assert len(states) > 5
    assert count > len(reasons) > count / 3
    assert all(reason.startswith("a state that cannot be read: ") for reason in reasons)


@pytest.mark.parametrize("count", SOME)
@pytest.mark.parametrize(("suffix", "make"), [("jsonl", make_json_line), ("csv", make_csv)])
def test_each_line_is_answered_or_a_dead_letter(suffix, make, count, tmp_path):
    random_ = random.Random(count)
    payloads = [make(random_, str(number)) for number in range(count)]
    head = b"sensor,ts,value\n" if suffix == "csv" else b""
    starts, data = {}, bytearray(head)
    for number, payload in enumerate(payloads):
        starts[str(len(data))] = str(number)
        data += payload.data + b"\n"
    (tmp_path / f"in.{suffix}").write_bytes(data)
    database = connect(tmp_path)
    database.execute(FOLDER.format(suffix=suffix))
    sink, tally = run(database, count)
    check(payloads, lambda place: starts[place.rpartition(" ")[2]], sink, tally)
