"""The broker that tests start: it keeps what it was given, lets in whom it should, and leaves nothing behind."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from paho.mqtt.client import CallbackAPIVersion, Client, MQTTMessage

from skerry.errors import RunError, SetupError
from skerry.testing import broker_programs
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto

pytestmark = needs_mosquitto

PATIENCE = 20.0


@contextmanager
def connected(broker: Broker, name: str = "", username: str | None = None, password: str | None = None) -> Iterator:
    client = Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=not name)
    client.username_pw_set(username, password)
    if broker.certificate:
        client.tls_set(str(broker.certificate))
    answered, reasons = threading.Event(), []
    client.on_connect = lambda client, _, flags, reason, properties: (reasons.append(reason), answered.set())
    client.received, client.heard = [], threading.Event()
    client.on_message = lambda client, _, message: (client.received.append(message), client.heard.set())
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    assert answered.wait(PATIENCE)
    client.reason = reasons[0]
    yield client
    client.disconnect()
    client.loop_stop()


def publish(client: Client, payload: bytes) -> None:
    client.publish("a/data", payload, qos=1).wait_for_publish(PATIENCE)


def payloads(messages: list[MQTTMessage]) -> list[bytes]:
    return [message.payload for message in messages]


def test_what_was_published_while_a_session_was_away_survives_a_restart():
    with Broker() as broker:
        with connected(broker, "reader") as reader:
            reader.subscribe("a/#", qos=1)
            with connected(broker) as writer:
                publish(writer, b"0")
            assert reader.heard.wait(PATIENCE)
        with connected(broker) as writer:
            publish(writer, b"1")
        port = broker.port
        broker.restart()
        assert broker.port == port
        with connected(broker, "reader") as reader:
            assert reader.heard.wait(PATIENCE)
            assert payloads(reader.received) == [b"1"]


def test_a_password_is_asked_for():
    with Broker("ann", "s:e cret") as broker:
        with connected(broker, username="ann", password="s:e cret") as friend:
            assert friend.reason == 0
        with connected(broker, username="ann", password="other") as stranger:
            assert stranger.reason != 0


def test_what_is_said_is_encrypted():
    with Broker(is_encrypted=True) as broker:
        assert broker.url == f"mqtts://127.0.0.1:{broker.port}"
        with connected(broker) as client:
            assert client.reason == 0


def test_a_broker_that_was_killed_comes_back():
    with Broker() as broker:
        broker.kill()
        assert not broker.is_running
        broker.start()
        with connected(broker) as client:
            assert client.reason == 0


def test_nothing_is_left_behind():
    with Broker() as broker:
        folder = broker._folder
        assert folder.exists()
    assert not broker.is_running
    assert not folder.exists()


def test_a_broker_that_does_not_start_says_why(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr("skerry.testing.broker._find_free_port", lambda: taken.getsockname()[1])
        with pytest.raises(RunError, match=r"the MQTT broker does not start: .*in use"), Broker():
            pass


def test_without_a_broker_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setattr(broker_programs.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(broker_programs, "find_spec", lambda _: None)
    with pytest.raises(SetupError, match="apt-get install mosquitto"):
        Broker()


def test_amqtt_stands_in_where_it_is_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(broker_programs.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(broker_programs, "find_spec", lambda _: object())
    command = broker_programs.find_program().configure(tmp_path, 1883, broker_programs.BrokerWishes())
    assert command[-1] == str(tmp_path / "amqtt.yaml")
    assert "bind: 127.0.0.1:1883" in (tmp_path / "amqtt.yaml").read_text()
