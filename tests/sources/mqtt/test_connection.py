"""Control goes out by a connection of its own, or by the other one where there is none."""

import json
import threading
from pathlib import Path

import paho.mqtt.client as paho
import pytest

from skerry.sensors.messages import Setting
from skerry.sources.mqtt.connection import ControlConnection
from skerry.sources.mqtt.options import MqttOptions
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto
from tests.sources.mqtt.test_mqtt import Publisher, open_source, wait_for

OPTIONS = MqttOptions.parse({"url": "mqtt://127.0.0.1:1", "topic": "i80/{sensor}/data"})


def test_without_a_connection_of_its_own_control_goes_by_the_other():
    other = paho.Client(paho.CallbackAPIVersion.VERSION2)
    with ControlConnection("road", OPTIONS, Path(), "skerry-7") as control:
        assert control.choose(other) is other


@needs_mosquitto
@pytest.mark.parametrize("is_refused", [False, True], ids=["own", "refused"])
def test_control_is_sent_once_and_never_again(tmp_path, monkeypatch, is_refused):
    """QoS 0: a message that is sent again would come when its sensor does not listen."""
    if is_refused:
        monkeypatch.setattr(ControlConnection, "choose", lambda self, other: other)
    heard, ready = [], threading.Event()
    with Broker() as broker:
        mote = paho.Client(paho.CallbackAPIVersion.VERSION2)
        mote.on_message = lambda client, data, message: heard.append((message.qos, json.loads(message.payload)))
        mote.on_subscribe = lambda *given: ready.set()
        mote.connect("127.0.0.1", broker.port)
        mote.subscribe("own/a/control", 1)
        mote.loop_start()
        assert ready.wait(30)
        sender, state = Publisher(broker.url), json.dumps({"control": 0, "program": "raw", "listens_ms": 500})
        with open_source(broker.url, tmp_path, "own", client_id="me").receive() as receiving:
            receiving.want({"a": Setting(asleep=True)})
            wait_for(lambda: is_refused or "as me-control" in broker.log)
            wait_for(lambda: sender.publish("own/a/state", state) or heard)
        for client in (mote, sender._client):
            client.disconnect()
            client.loop_stop()
    assert [(qos, control["asleep"]) for qos, control in heard][:1] == [(0, True)]
