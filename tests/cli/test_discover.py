"""Discovery on a real broker and over files."""

import json
import threading
import time

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from typer.testing import CliRunner

from skerry import MemorySink, Settings, connect
from skerry.cli import app
from skerry.errors import InputError, SkerryError
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto

pytestmark = needs_mosquitto


@pytest.fixture(scope="module")
def broker():
    with Broker() as started:
        yield started.port


@pytest.fixture
def fleet(broker):
    """Two sensors that publish ten times a second, and have said of themselves what they are."""
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.connect("127.0.0.1", broker)
    client.loop_start()
    for name in ("a", "b"):
        state = {"control": 0, "kind": "loop", "latitude": 37.8, "longitude": -122.3, "units": {"speed": "mph"}}
        client.publish(f"i80/{name}/state", json.dumps(state), qos=1, retain=True)
    ended = threading.Event()

    def publish():
        for number in range(1_000_000):
            for name in ("a", "b"):
                said = {"ts": time.time_ns() // 1_000_000, "speed": 50.5, "seq": number}
                client.publish(f"i80/{name}/data", json.dumps(said), qos=0)
            if ended.wait(0.1):
                return

    thread = threading.Thread(target=publish)
    thread.start()
    yield f"mqtt://127.0.0.1:{broker}"
    ended.set()
    thread.join()
    client.disconnect()
    client.loop_stop()


def asked(*arguments):
    result = CliRunner().invoke(app, ["sensors", *arguments])
    if isinstance(result.exception, SkerryError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_what_a_broker_carries_is_proposed(fleet, tmp_path):
    told = asked("discover", fleet, "--topic", "i80/#", "--seconds", "2", "--out", str(tmp_path / "i80.sql"))
    assert told.startswith("i80: i80/{sensor}/data, 2 sensors, 4 columns\n")
    database = connect(tmp_path)
    database.execute((tmp_path / "i80.sql").read_text())
    (source,) = database.catalog.sources()
    assert source.options["url"] == fleet
    assert source.options["event_time_unit"] == "ms"
    assert source.options["sequence"] == "seq"
    asked("import", str(tmp_path / "i80.yaml"), "--project", str(tmp_path))
    sensors = database.catalog.sensors()
    assert [(sensor.name, sensor.kind, sensor.units) for sensor in sensors] == [
        (name, "loop", {"speed": "mph"}) for name in ("a", "b")
    ]


def test_broker_that_says_nothing_is_told(broker):
    with pytest.raises(InputError, match="0 messages were heard on 'nothing/#', and no reading"):
        asked("discover", f"mqtt://127.0.0.1:{broker}", "--topic", "nothing/#", "--seconds", "0.2")


def test_broker_with_tls_and_a_password_is_asked(tmp_path):
    (tmp_path / "password").write_text("secret\n")
    with Broker("me", "secret", is_encrypted=True) as own:
        client = mqtt.Client(CallbackAPIVersion.VERSION2)
        client.username_pw_set("me", "secret")
        client.tls_set(str(own.certificate))
        client.connect("127.0.0.1", own.port)
        client.loop_start()
        client.publish("i80/a/state", json.dumps({"kind": "loop"}), qos=1, retain=True).wait_for_publish(30)
        client.publish("i80/a/data", json.dumps({"ts": 1_790_000_000, "speed": 5}), 1, retain=True).wait_for_publish(30)
        access = ["--username", "me", "--ca-file", str(own.certificate), "--seconds", "1"]
        script = asked("discover", own.url, *access, "--password-file", str(tmp_path / "password"))
        assert f"password_file='{tmp_path}/password'" in script
        assert f"ca_file='{own.certificate}'" in script
        assert "secret" not in asked("discover", own.url, *access, "--password", "secret")
        with pytest.raises(InputError, match="refuses"):
            asked("discover", own.url, *access, "--password", "wrong")
        client.disconnect()
        client.loop_stop()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mqtt://127.0.0.1:1", "cannot reach the broker 'mqtt://127.0.0.1:1'"),
        ("mqtt://me:hidden@127.0.0.1:1", "cannot reach the broker 'mqtt://127.0.0.1:1'"),
        ("http://127.0.0.1", "is no address of an MQTT broker"),
        ("mqtt://host:99999", "is no address of an MQTT broker"),
        ("in/*.jsonl", r"no file fits 'in/\*\.jsonl'"),
    ],
)
def test_what_cannot_be_asked_is_refused(url, message):
    with pytest.raises(InputError, match=message):
        asked("discover", url, "--seconds", "0.1")


def test_wrong_topic_is_refused(broker):
    with pytest.raises(InputError, match="'a/#/b' is no topic to listen to"):
        asked("discover", f"mqtt://127.0.0.1:{broker}", "--topic", "a/#/b", "--seconds", "0.1")


JSON_LINES = '{"device": "a", "time": "2026-01-01T00:00:00Z", "temperature_c": 20.5}\n' * 3
CSV = "station,ts,flow,open\n1,2026-01-01 00:00:00,5,true\n2,2026-01-01 00:00:01,6,false\n"


@pytest.mark.parametrize(("name", "text", "rows"), [("air.jsonl", JSON_LINES, 3), ("road.csv", CSV, 2)])
def test_script_for_files_runs_as_it_is(tmp_path, monkeypatch, name, text, rows):
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    script = asked("discover", name)
    database = connect(tmp_path)
    database.execute(script)
    sink = MemorySink()
    database.run(sink, Settings("fjord"))
    assert sink.table(f"{name.partition('.')[0]}_readings").num_rows == rows


def test_printed_proposal_is_a_script_with_the_sensors_as_comments(tmp_path, monkeypatch):
    (tmp_path / "air.jsonl").write_text(JSON_LINES)
    monkeypatch.chdir(tmp_path)
    script = asked("discover", "*.jsonl")
    assert "-- - {name: a, source: " in script
    assert "units: {temperature_c: °C}" in script


def test_number_that_is_a_time_has_its_unit(tmp_path, monkeypatch):
    (tmp_path / "air.jsonl").write_text('{"device": "a", "ts": 1790000000123}\n')
    monkeypatch.chdir(tmp_path)
    assert "event_time_unit='ms'" in asked("discover", "air.jsonl")
