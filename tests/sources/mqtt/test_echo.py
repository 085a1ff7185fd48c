"""What a broker has kept is told from what is sent just now."""

import json
import threading
import time

import paho.mqtt.client as paho
import pytest

from skerry.sensors.messages import Setting
from skerry.sources.mqtt.echo import Echo
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto
from tests.sources.mqtt.test_mqtt import Publisher, make, open_source, values, wait_for


class Wire:
    """Keeps what is sent."""

    def __init__(self):
        self.sent = []

    def publish(self, topic, payload):
        self.sent.append((topic, payload))


def test_echo_is_heard_once_its_own_message_has_come():
    echo, wire = Echo("a/b/control"), Wire()
    echo.send(wire.publish)
    assert not echo.take("a/c/control", wire.sent[0][1])
    assert echo.take("a/b/control", b"")
    assert not echo.is_heard
    assert echo.take(*wire.sent[0])
    assert echo.is_heard


def test_echo_of_an_earlier_connection_says_nothing():
    echo, wire = Echo("a/b/control"), Wire()
    echo.send(wire.publish)
    echo.forget()
    echo.take(*wire.sent[0])
    echo.send(wire.publish)
    echo.take(*wire.sent[0])
    assert not echo.is_heard
    echo.take(*wire.sent[1])
    assert echo.is_heard


def test_message_is_no_older_than_the_newest_echo_that_came_back():
    now = [0.0]
    echo, wire = Echo("a/b/control", lambda: now[0]), Wire()
    for moment in (1.0, 2.0, 3.0):
        now[0] = moment
        echo.send(wire.publish)
    echo.take(*wire.sent[1])
    assert echo.age_s == 1.0
    echo.take(*wire.sent[0])
    assert echo.age_s == 1.0
    echo.take(*wire.sent[2])
    assert echo.age_s == 0.0


def test_echo_is_waited_for_as_long_as_the_broker_hands_over_what_it_kept():
    now = [0.0]
    echo, wire = Echo("a/b/control", lambda: now[0]), Wire()
    echo.send(wire.publish)
    for second in range(1, 500):
        now[0] = float(second)
        echo.take("a/c/data", b"")
        assert (echo.is_heard, echo.age_s) == (False, float("inf"))
    echo.take(*wire.sent[0])
    assert (echo.is_heard, echo.age_s) == (True, 499.0)


@pytest.mark.parametrize(("pause_s", "until_s"), [(5.0, 5.0), (1.0, 600.0)])
def test_broker_that_lets_nobody_hear_himself_is_found_out(pause_s, until_s):
    """By silence, or in the end."""
    now = [0.0]
    echo = Echo("a/b/control", lambda: now[0])
    echo.send(Wire().publish)
    while now[0] < until_s:
        assert not echo.is_heard
        now[0] += pause_s
        echo.take("a/c/data", b"")
    assert (echo.is_heard, echo.age_s) == (True, 0.0)


@needs_mosquitto
def test_sensor_that_spoke_while_nobody_was_there_is_not_answered(tmp_path):
    """Its listening window is long over: it is answered when it speaks again."""
    heard, ready, state = [], threading.Event(), json.dumps({"control": 0, "program": "raw", "listens_ms": 500})
    with Broker() as broker:
        source, sender = open_source(broker.url, tmp_path, "late"), Publisher(broker.url)
        with source.receive():
            time.sleep(0)
        mote = paho.Client(paho.CallbackAPIVersion.VERSION2)
        mote.on_message = lambda client, data, message: heard.append(json.loads(message.payload))
        mote.on_subscribe = lambda *given: ready.set()
        mote.connect("127.0.0.1", broker.port)
        mote.subscribe("late/a/control", 1)
        mote.loop_start()
        assert ready.wait(30)
        sender.publish("late/a/state", state)
        sender.publish("late/a/data", json.dumps({"readings": [json.loads(make(1))], "listens_ms": 500}))
        with source.receive() as receiving:
            receiving.want({"a": Setting(asleep=True)})
            wait_for(lambda: values(source) == [1])
            wait_for(receiving._has_caught_up)
            assert not heard
            wait_for(lambda: sender.publish("late/a/state", state) or heard)
        assert [each["asleep"] for each in heard] == [True]
        for client in (mote, sender._client):
            client.disconnect()
            client.loop_stop()
