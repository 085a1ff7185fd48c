"""A real broker: what it was told is answered once, whoever breaks down on the way."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import cbor2
import paho.mqtt.client as paho
import pyarrow as pa
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from skerry.catalog import Source
from skerry.errors import OptionError, SourceError
from skerry.sensors.messages import Setting
from skerry.sources.mqtt import MqttConnector, client
from skerry.sources.source import Split
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto

pytestmark = needs_mosquitto

SCHEMA = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("us"), "value": pa.float64()})
PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def broker():
    with Broker() as started:
        yield started


def open_source(url, spool, prefix, **options):
    given = {"url": url, "topic": f"{prefix}/{{sensor}}/data", **options}
    return MqttConnector.open(Source("road", SCHEMA, "mqtt", given, event_time="ts"), Path()).spool_in(spool)


class Publisher:
    """Publishes, and waits until the broker has it."""

    def __init__(self, url):
        self._client = paho.Client(paho.CallbackAPIVersion.VERSION2)
        self._client.connect("127.0.0.1", int(url.rpartition(":")[2]))
        self._client.loop_start()

    def publish(self, topic, *payloads, retain=False):
        wait_for(self._client.is_connected)
        sent = [self._client.publish(topic, payload, 1, retain) for payload in payloads]
        for each in sent:
            each.wait_for_publish(PATIENCE_SECONDS)

    def close(self):
        self._client.disconnect()
        self._client.loop_stop()


@pytest.fixture
def publisher(broker):
    made = Publisher(broker.url)
    yield made
    made.close()


def make(value, **more):
    return json.dumps({"ts": "2026-01-01 00:00:00", "value": value, **more})


def read(source):
    [lane] = source.lanes()
    return list(source.read(Split("road", lane.name, 0, lane.count())))


def values(source):
    return [value for decoded in read(source) for value in decoded.readings.column("value").to_pylist()]


def count(source):
    return sum(decoded.readings.num_rows + decoded.rejects.num_rows for decoded in read(source))


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.05)


def test_messages_are_readings_of_the_sensors_in_their_topics(broker, publisher, tmp_path):
    source = open_source(broker.url, tmp_path, "plain")
    with source.receive():
        publisher.publish("plain/a/data", make(1))
        publisher.publish("plain/b/data", f"[{make(2)}, {make(3)}]", json.dumps({"readings": [{"value": 4}]}))
        publisher.publish("other/a/data", make(5))
        wait_for(lambda: count(source) >= 4)
    [decoded] = read(source)
    rows = [(row["sensor"], row["value"]) for row in decoded.readings.to_pylist()]
    assert rows == [("a", 1), ("b", 2), ("b", 3)]
    assert decoded.rejects.to_pylist() == [
        {"reason": "ts is missing", "reading": '{"value":4}', "place": "plain/b/data"}
    ]


def test_retained_messages_are_no_news(broker, publisher, tmp_path):
    publisher.publish("kept/a/data", make(1), retain=True)
    source = open_source(broker.url, tmp_path, "kept")
    with source.receive():
        publisher.publish("kept/a/data", make(2))
        wait_for(lambda: count(source) >= 1)
    assert values(source) == [2]


def test_messages_in_cbor(broker, publisher, tmp_path):
    source = open_source(broker.url, tmp_path, "cbor", encoding="cbor", event_time_unit="s")
    with source.receive():
        publisher.publish("cbor/a/data", cbor2.dumps({"ts": 1_700_000_000, "value": 1.5}), b"\xff\xff", b"{}")
        wait_for(lambda: count(source) >= 3)
    assert values(source) == [1.5]
    first = next(letter["reason"] for each in read(source) for letter in each.rejects.to_pylist())
    assert first.startswith("not valid CBOR: ")


@pytest.mark.parametrize("encoding", ["json", "cbor"])
def test_messages_without_keys_fill_the_column_of_values(broker, publisher, tmp_path, encoding):
    topic = f"bare-{encoding}"
    source = open_source(
        broker.url, tmp_path, topic, encoding=encoding, value_column="value", arrival_time="true", sequence="seq"
    )
    encode = cbor2.dumps if encoding == "cbor" else lambda value: json.dumps(value).encode()
    with source.receive():
        publisher.publish(f"{topic}/a/data", *map(encode, (20.5, 7, "8.5", [1, 2], "ON")), b"", b"{")
        wait_for(lambda: count(source) >= 8)
    assert values(source) == [20.5, 7, 8.5, 1, 2]
    [decoded] = read(source)
    reasons = decoded.rejects.column("reason").to_pylist()
    broken = "not valid CBOR" if encoding == "cbor" else "not a JSON object"
    found = sorted(reason.partition(": premature end")[0] for reason in reasons)
    assert found == sorted([broken, broken, "column value: 'ON' is not DOUBLE"])


def test_column_of_values_must_be_declared(tmp_path):
    with pytest.raises(OptionError, match="value_column 'celsius' is no column; there are sensor, ts, value"):
        open_source("mqtt://localhost", tmp_path, "x", value_column="celsius")


def test_what_comes_while_nobody_is_there_is_received_later(broker, publisher, tmp_path):
    source = open_source(broker.url, tmp_path, "away", sequence="seq")
    with source.receive():
        publisher.publish("away/a/data", make(1, seq=1))
        wait_for(lambda: count(source) == 1)
    publisher.publish("away/a/data", make(2, seq=2), make(2, seq=2))
    with source.receive():
        wait_for(lambda: count(source) == 2)
        publisher.publish("away/a/data", make(3, seq=3))
        wait_for(lambda: count(source) == 3)
    assert values(source) == [1, 2, 3]


@pytest.mark.parametrize("is_kept", [True, False])
def test_broker_keeps_messages_for_a_source_that_will_go_on_alone(broker, tmp_path, is_kept):
    spool = tmp_path / "spool"
    with open_source(broker.url, spool, "leaves").spool_in(spool, is_kept=is_kept).receive():
        pass
    found = []
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, (spool / "client_id").read_text(), clean_session=False)
    client.on_connect = lambda client, data, flags, code, more: found.append(flags.session_present)
    client.connect("127.0.0.1", int(broker.url.rpartition(":")[2]))
    client.loop_start()
    wait_for(lambda: found)
    client.disconnect()
    client.loop_stop()
    assert found == [is_kept]


def test_run_begins_before_the_broker_has_handed_over_what_it_kept(broker, publisher, tmp_path, monkeypatch):
    """Its answer to our wish to listen comes after all of that."""
    source, take = open_source(broker.url, tmp_path, "much"), client.MqttReceiving._on_message
    with source.receive():
        pass
    publisher.publish("much/a/data", *map(make, range(100)))
    monkeypatch.setattr(client, "_PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr(client.MqttReceiving, "_on_message", lambda *given: (time.sleep(0.01), take(*given))[1])
    with source.receive():
        assert len(values(source)) < 100
        wait_for(lambda: len(values(source)) == 100)


def test_broker_that_restarts_is_found_again(tmp_path):
    with Broker() as own:
        source, sender = open_source(own.url, tmp_path, "again"), Publisher(own.url)
        with source.receive():
            sender.publish("again/a/data", make(1))
            own.restart()
            sender.publish("again/a/data", make(2))
            wait_for(lambda: count(source) == 2)
        sender.close()
    assert values(source) == [1, 2]


def test_broker_that_has_forgotten_the_source_is_told(tmp_path, caplog):
    with Broker() as own, open_source(own.url, tmp_path, "gone").receive():
        own.kill()  # before it has saved anything
        own.start()
        wait_for(lambda: "the broker has forgotten it; what was sent since" in caplog.text)


def test_broker_that_is_busy_is_tried_again(broker, tmp_path):
    receiving = open_source(broker.url, tmp_path, "busy").receive()
    busy = ReasonCode(PacketTypes.CONNACK, "Server unavailable")
    receiving._on_connect(receiving._client, None, paho.ConnectFlags(session_present=False), busy, None)
    receiving.check()


def test_message_of_a_connection_that_is_lost_is_not_acknowledged_by_the_next(tmp_path, monkeypatch):
    """The next one may have given the number to another message, which is not on disk yet."""
    waiting, acknowledged = [], []
    with Broker() as own:
        receiving = open_source(own.url, tmp_path, "numbers").receive()
        monkeypatch.setattr(receiving._client, "ack", lambda number, qos: acknowledged.append(number))
        monkeypatch.setattr(receiving._receiver, "put", lambda message, done: waiting.append(done))
        with receiving:
            for number in (1001, 1002):
                message = paho.MQTTMessage(mid=number, topic=b"numbers/a/data")
                message.payload, message.qos = make(number).encode(), 1
                receiving._on_message(receiving._client, None, message)
                if number == 1001:
                    own.restart()
                    wait_for(lambda: receiving._connections > 2)
            for done in waiting:
                done()
    assert [number for number in acknowledged if number > 1000] == [1002]


RECEIVE = """
import sys, time
from pathlib import Path
from tests.sources.mqtt.test_mqtt import open_source
with open_source(sys.argv[1], Path(sys.argv[2]), "crash", sequence="seq").receive() as receiving:
    print("ready", flush=True)
    while True:
        receiving.check()
        time.sleep(0.01)
"""


def start_receiver(url, folder):
    command = [sys.executable, "-c", RECEIVE, url, str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert process.stdout.readline() == b"ready\n"
    return process


def check_crashes(url, publisher, folder, kills):
    source, random_, number = open_source(url, folder, "crash", sequence="seq"), random.Random(7), 0
    for attempt in range(kills + 1):
        process = start_receiver(url, folder)
        for _ in range(random_.randint(3, 12)):
            publisher.publish("crash/a/data", *(make(each, seq=each) for each in range(number, number + 40)))
            number += 40
        if attempt == kills:
            wait_for(lambda expected=number: len(values(source)) >= expected)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert sorted(values(source)) == list(range(number))


def test_receiver_that_is_killed_loses_and_doubles_nothing(broker, publisher, tmp_path):
    check_crashes(broker.url, publisher, tmp_path, kills=2)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_receiver_that_is_killed_often_loses_and_doubles_nothing(broker, publisher, tmp_path):
    check_crashes(broker.url, publisher, tmp_path, kills=25)


ODD = [None, 1, "x", [[]], [1, {}], {"readings": 3}, {"value": {"a": 1}}]
NUMBERS = [b"NaN", b"1e999", b"-", b'"\\ud800"', b"0x10"]


def make_garbage(random_):
    """A payload that is nearly right, or not at all."""
    sound = make(random_.random(), seq=random_.randint(0, 9)).encode()
    kinds = [
        lambda: sound[: random_.randint(0, len(sound))],
        lambda: bytes(random_.choices(range(256), k=random_.randint(0, 80))),
        lambda: sound.replace(b"2026", random_.choice([b"9999", b"soon", b"-1", b"\xff"])),
        lambda: json.dumps(
            random_.choice([None, 1, "x", [], [[]], [1, {}], {"readings": 3}, {"value": {"a": 1}}])
        ).encode(),
        lambda: b"[" * random_.randint(1, 5_000),
        lambda: (
            b'{"value": ' + random_.choice([b"NaN", b"1e999", b"-", b'"\\ud800"', b"0x10"]) + b', "ts": "2026-01-01"}'
        ),
        lambda: cbor2.dumps({"value": random_.random()}),
        lambda: sound + b"\n" + sound,
        lambda: b"\x00" * random_.randint(0, 9),
    ]
    return random_.choice(kinds)()


def check_garbage(url, publisher, folder, payloads, **options):
    """Each message is readings or dead letters, but for empty lists; sound ones among them are read."""
    source, random_ = open_source(url, folder, f"fuzz-{folder.name}", **options), random.Random(3)
    with source.receive() as receiving:
        for first in range(0, payloads, 200):
            garbage = [make_garbage(random_) for _ in range(200)]
            publisher.publish(f"fuzz-{folder.name}/a/data", *garbage, make(-first - 1))
        wait_for(lambda: -(payloads - 200) - 1 in values(source))
        receiving.check()
    assert [value for value in values(source) if value is not None and value < 0] == [
        -n - 1 for n in range(0, payloads, 200)
    ]
    assert count(source) > 0.9 * payloads
    assert all(reason for each in read(source) for reason in each.rejects.column("reason").to_pylist())


def test_garbage_ends_as_dead_letters(broker, publisher, tmp_path):
    check_garbage(broker.url, publisher, tmp_path, 1_000)


WRONG_STATES = [
    {"control": 10**30, "listens_ms": 50},
    {"control": 0, "listens_ms": "long"},
    {"control": 0, "sample_period_ms": float("nan")},
    {"control": 0, "battery": [1]},
    {"control": 0, "programs": [{}], "units": 5},
    {"control": 0, "ranges": {"speed": [[10**400, {}]]}},
    {"control": 0, "kind": "\ud800"},
    [],
    "on",
]


@pytest.mark.parametrize("encode", [lambda said: json.dumps(said).encode(), cbor2.dumps], ids=["json", "cbor"])
def test_states_of_nonsense_are_dead_letters_and_end_nothing(broker, publisher, tmp_path, encode):
    wrong = [
        encode(said) for said in WRONG_STATES if encode is not cbor2.dumps or said != {"control": 0, "kind": "\ud800"}
    ]
    wrong += [b"", b"?", b"{" * 5_000, b"\xff" * 9, b"{" + b" " * 70_000 + b"}"]
    prefix = f"wrong-{tmp_path.name}"
    source = open_source(broker.url, tmp_path, prefix)
    publisher.publish(f"{prefix}/z/state", wrong[0], retain=True)
    with source.receive() as receiving:
        receiving.want({}, Setting(asleep=True))
        publisher.publish(f"{prefix}/a/state", *wrong)
        publisher.publish(f"{prefix}/a/data", make(1), make(10**400), b'{"listens_ms": 1' + b"0" * 5_000 + b"}")
        publisher.publish(f"{prefix}/a/state", json.dumps({"control": 5, "listens_ms": 50, "battery": 0.5}))
        wait_for(lambda: "a" in receiving.list_proxies() and receiving.list_proxies()["a"].state)
        wait_for(lambda: count(source) >= len(wrong) + 3)
        receiving.check()
    assert receiving.list_proxies()["a"].state.battery == 0.5
    letters = pa.Table.from_batches([each.rejects for each in read(source)]).to_pylist()
    of_states = [each for each in letters if each["place"] == f"{prefix}/a/state"]
    assert len(of_states) == len(wrong)
    assert all(each["reason"].startswith("a state that cannot be read: ") for each in of_states)
    assert "control is a whole number" in of_states[0]["reason"]


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_10000_garbled_payloads_end_as_dead_letters(broker, publisher, tmp_path):
    check_garbage(broker.url, publisher, tmp_path, 10_000)


# A socket on which TLS fails is left by paho to be collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_password_and_certificate_are_asked_for(tmp_path):
    (tmp_path / "password").write_text("secret\n")
    with Broker("me", "secret", is_encrypted=True) as own:
        url = own.url.replace("://", "://me@")
        given = {"ca_file": str(own.certificate), "password_file": str(tmp_path / "password")}
        with open_source(url, tmp_path / "spool", "tls", **given).receive() as receiving:
            receiving.check()
        with pytest.raises(SourceError, match=r"source 'road': the broker 127.0.0.1:\d+ cannot be used: .*certificate"):
            open_source(url, tmp_path / "b", "tls").receive().__enter__()
        with pytest.raises(SourceError, match=r"cannot be used: (not authorized|bad user name or password)"):
            open_source(own.url, tmp_path / "c", "tls", ca_file=str(own.certificate)).receive().__enter__()


def test_password_without_a_user_is_refused(tmp_path):
    with pytest.raises(OptionError, match="password_file goes with a user"):
        open_source("mqtt://127.0.0.1:1", tmp_path, "x", password_file="password")


def test_broker_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SourceError, match=r"the broker 127.0.0.1:1 cannot be used: Connection refused"):
        open_source("mqtt://127.0.0.1:1", tmp_path, "x").receive().__enter__()
