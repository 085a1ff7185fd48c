"""What tests know of a fleet from outside: a plain subscriber, a fleet in a thread, and the truth that it wrote."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cbor2
from paho.mqtt.client import CallbackAPIVersion, Client, MQTTMessage

from skerry.sensors.broker_address import BrokerAddress
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.testing.broker import Broker

PATIENCE_S = 30.0


def decode(payload: bytes) -> Any:
    """Read JSON, or CBOR as motes write it (a map of three), or give None."""
    try:
        return cbor2.loads(payload) if payload[:1] == b"\xa3" else json.loads(payload)
    except (ValueError, EOFError):  # cbor2's own errors are of these kinds
        return None


@dataclass
class Listener:
    """Hears everything that is said, and answers each message as a test wants."""

    client: Client
    messages: list[MQTTMessage] = field(default_factory=list)
    answer: Callable[["Listener", str, Any], None] = lambda listener, topic, body: None

    def hear(self, message: MQTTMessage) -> None:
        self.messages.append(message)
        self.answer(self, message.topic, decode(message.payload))

    def control(self, topic: str, **control: Any) -> None:
        """Send control to the sensor whose data or state has come."""
        self.client.publish(topic.rpartition("/")[0] + "/control", json.dumps(control), qos=1)

    def bodies(self, what: str) -> list[tuple[str, Any]]:
        """Sensor and body of each message of a kind that could be read."""
        split = [(message.topic.split("/"), decode(message.payload)) for message in list(self.messages)]
        return [(levels[-2], body) for levels, body in split if levels[-1] == what and body is not None]

    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        found = [(sensor, row) for sensor, body in self.bodies("data") for row in body["readings"]]
        return [(sensor, row) for sensor, row in found if row["ts"] != "yesterday"]


@contextmanager
def listening(broker: Broker, answer: Callable[..., None] | None = None) -> Iterator[Listener]:
    client = Client(CallbackAPIVersion.VERSION2, client_id="listener", clean_session=False)
    listener, ready = Listener(client), threading.Event()
    listener.answer = answer or listener.answer
    client.max_inflight_messages_set(0)
    client.reconnect_delay_set(1, 1)
    client.on_message = lambda _client, _data, message: listener.hear(message)
    client.on_connect = lambda *_: client.subscribe([("+/+/data", 1), ("+/+/state", 1)])
    client.on_subscribe = lambda *_: ready.set()
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    assert ready.wait(PATIENCE_S)
    yield listener
    client.disconnect()
    client.loop_stop()


@dataclass
class Run:
    """A fleet that was run, and the truth it wrote."""

    fleet: Fleet
    path: Path

    def lines(self, what: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if line["what"] == what]

    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        left_out = ("what", "sensor", "message")
        lines = self.lines("reading")
        return [(line["sensor"], {k: v for k, v in line.items() if k not in left_out}) for line in lines]


@contextmanager
def running(broker: Broker, path: Path, settings: FleetSettings, **options: Any) -> Iterator[Run]:
    """A fleet at work in the background; it is stopped, and its truth is whole, at the end of the block."""
    fleet = Fleet(settings, BrokerAddress.parse(broker.url), path / "truth.jsonl", **options)
    stopped = threading.Event()
    thread = threading.Thread(target=fleet.run, kwargs={"stopped": stopped.is_set})
    thread.start()
    try:
        yield Run(fleet, path / "truth.jsonl")
    finally:
        stopped.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()


def wait_for(condition: Callable[[], Any]) -> Any:
    """Wait until something holds, and give it."""
    deadline_s = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        assert time.monotonic() < deadline_s, "it did not come true"
        time.sleep(0.05)
    return found
