"""Fleets on a real broker, seen by a plain subscriber."""

import json
import time
from collections import Counter

import pytest

from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.sensors.broker_address import BrokerAddress
from skerry.sensors.messages import Setting
from skerry.sources.mqtt.control import ControlChannel
from skerry.sources.sim.motes import Faults, Fleet, FleetSettings
from skerry.sources.sim.motes.kinds.air import AIR
from skerry.testing.broker import Broker
from tests.brokers import needs_mosquitto
from tests.sources.sim.motes.listener import listening, running, wait_for

pytestmark = needs_mosquitto

KINDS = {"traffic": 8, "air": 4, "soil": 4, "vibration": 4}
START = Micros(1_780_000_000_000_000)
FAST = {"speed": 20.0, "listens_ms": 2_000.0}


@pytest.fixture
def broker():
    with Broker() as broker:
        yield broker


def canonical(readings):
    return Counter((sensor, tuple(sorted(row.items()))) for sensor, row in readings)


@pytest.mark.parametrize("encoding", ["json", "cbor"])
def test_truth_is_what_a_subscriber_received(broker, tmp_path, encoding):
    with listening(broker) as heard:
        with running(broker, tmp_path, FleetSettings(KINDS, "f", speed=10.0, encoding=encoding)) as run:
            wait_for(lambda: len({sensor for sensor, _ in heard.readings()}) == 20)
        expected = canonical(run.readings())
        wait_for(lambda: canonical(heard.readings()) == expected)
    assert len({sensor for sensor, _ in heard.bodies("state")}) == 20
    assert run.fleet.tally.readings == sum(expected.values())
    assert not run.lines("unacknowledged")


def test_every_reading_is_numbered_without_gaps(broker, tmp_path):
    with running(broker, tmp_path, FleetSettings({"vibration": 3}, "f", speed=10.0, first_sequence=7)) as run:
        wait_for(lambda: run.fleet.tally.readings > 300)
    for number in range(3):
        sequence = [row["seq"] for sensor, row in run.readings() if sensor == f"vibration-000{number}"]
        assert sequence == list(range(7, 7 + len(sequence)))


def test_faults_are_in_the_truth(broker, tmp_path):
    faults = Faults(duplicate=0.2, reorder=0.2, garble=0.2, wrong_clock=0.5)
    with listening(broker) as heard:
        with running(broker, tmp_path, FleetSettings({"air": 10}, "f", speed=20.0, faults=faults)) as run:
            wait_for(lambda: run.fleet.tally.readings > 200)
        tally, garbled = run.fleet.tally, {line["payload"] for line in run.lines("garbled")}
        count = tally.messages + tally.garbled_messages + tally.duplicates
        wait_for(lambda: sum(message.topic.endswith("data") for message in heard.messages) == count)
    assert min(tally.duplicates, tally.reordered, tally.garbled_messages) > 5
    assert set(canonical(heard.readings())) == set(canonical(run.readings()))
    assert garbled <= {message.payload.hex() for message in heard.messages}
    assert 0 < sum(line["clock_error_s"] != 0 for line in run.lines("mote")) < 10


def test_control_is_taken_within_the_window_and_answered(broker, tmp_path):
    def answer(listener, topic, body):
        if topic.endswith("/data") and "humidity" in body["readings"][0]:
            listener.control(topic, control=3, program="dust", sample_period_ms=250, columns=["ts", "pm25"])

    with listening(broker, answer) as heard, running(broker, tmp_path, FleetSettings({"air": 2}, "f", **FAST)) as run:
        wait_for(lambda: sum("humidity" not in row for _, row in heard.readings()) > 20)
    states = [body for _, body in heard.bodies("state") if body["control"] == 3]
    assert (states[0]["program"], states[0]["sample_period_ms"]) == ("dust", 250.0)
    assert set(heard.readings()[-1][1]) == {"ts", "seq", "pm25"}
    assert run.fleet.tally.controls["taken"] == 2
    assert {line["heard"] for line in run.lines("control")} <= {"taken", "repeated"}


def test_control_outside_of_windows_is_not_heard(broker, tmp_path):
    def answer(listener, topic, body):
        listener.control(topic, control=1, asleep=True)

    settings = FleetSettings({"air": 2}, "f", speed=20.0, listens_ms=0.0)
    with listening(broker, answer) as heard, running(broker, tmp_path, settings) as run:
        wait_for(lambda: run.fleet.tally.controls["outside"] > 10)
    assert run.fleet.tally.controls["taken"] == 0
    assert {body["control"] for _, body in heard.bodies("state")} == {0}
    assert run.lines("control")[0]["heard"] == "outside"


def test_a_sleeping_mote_looks_in_and_can_be_woken(broker, tmp_path):
    looked_in = Counter()

    def answer(listener, topic, body):
        if topic.endswith("/data"):
            listener.control(topic, control=1, asleep=True)
        elif body["asleep"]:
            looked_in[topic] += 1
            if looked_in[topic] == 4:
                listener.control(topic, control=2)

    with listening(broker, answer) as heard, running(broker, tmp_path, FleetSettings({"air": 2}, "f", **FAST)) as run:
        wait_for(lambda: {body["control"] for _, body in heard.bodies("state") if not body["asleep"]} >= {2})
        before = run.fleet.tally.readings
        wait_for(lambda: run.fleet.tally.readings > before)
    assert min(looked_in.values()) >= 4


def test_proxies_bring_a_fleet_to_what_is_wanted_and_no_further(broker, tmp_path):
    def answer(listener, topic, body):
        payload, now = json.dumps(body).encode(), Micros(time.time_ns() // 1000)
        if not channel.take_state(topic, payload, now, 0.0):
            channel.note_data(topic, payload, now, 0.0)

    with listening(broker, answer) as heard:
        channel = ControlChannel("f/{sensor}/state", lambda topic, payload: heard.client.publish(topic, payload, qos=1))
        channel.want({"air-0003": Setting("dust", Micros(500_000))}, others=Setting(asleep=True))
        with running(broker, tmp_path, FleetSettings({"air": 20}, "f", **FAST)) as run:
            wait_for(
                lambda: len(found := channel.list_proxies()) == 20 and all(each.is_obeyed for each in found.values())
            )
    assert {mote.name for mote in run.fleet.motes if not mote.is_asleep} == {"air-0003"}
    assert (run.fleet.tally.controls["taken"], run.fleet.tally.controls["outside"]) == (20, 0)


def test_a_mote_that_dies_comes_back_without_its_setting(broker, tmp_path):
    def answer(listener, topic, body):
        if topic.endswith("/data"):
            listener.control(topic, control=1, program="dust")

    settings = FleetSettings({"air": 4}, "f", faults=Faults(die=1.0, die_every_s=10.0), **FAST)
    with listening(broker, answer) as heard, running(broker, tmp_path, settings) as run:
        wait_for(lambda: run.fleet.tally.restarts >= 6)
    told = [body["control"] for sensor, body in heard.bodies("state") if sensor == "air-0000"]
    assert "1 0 1" in " ".join(map(str, told)) or "1 0 0 1" in " ".join(map(str, told))
    assert len(run.lines("died")) == run.fleet.tally.deaths >= run.fleet.tally.restarts == len(run.lines("restarted"))


def test_what_was_acknowledged_survives_restarts_of_the_broker(broker, tmp_path):
    with listening(broker) as heard:
        with running(broker, tmp_path, FleetSettings(KINDS, "f", speed=10.0)) as run:
            wait_for(lambda: run.fleet.tally.readings > 100)
            broker.restart()
            wait_for(lambda: run.fleet.tally.connection_losses == 1)
            before = run.fleet.tally.readings
            wait_for(lambda: run.fleet.tally.readings > before + 100)
        wait_for(lambda: set(canonical(run.readings())) <= set(canonical(heard.readings())))
    assert run.fleet.tally.unacknowledged_readings == 0


def test_equal_seeds_send_equal_readings(broker, tmp_path):
    sent = []
    for number, seed in enumerate((5, 5, 6)):
        (tmp_path / str(number)).mkdir()
        settings = FleetSettings(KINDS, "f", seed, speed=20.0)
        with running(broker, tmp_path / str(number), settings, start_us=START) as run:
            wait_for(lambda run=run: run.fleet.tally.readings > 200)
        sent.append({(sensor, row["seq"]): row for sensor, row in run.readings()})
    common = sent[0].keys() & sent[1].keys()
    assert len(common) > 100
    assert all(sent[0][key] == sent[1][key] for key in common)
    assert any(sent[0][key] != sent[2][key] for key in sent[0].keys() & sent[2].keys())


def test_a_run_can_be_checked_without_its_truth(broker, tmp_path):
    with running(
        broker, tmp_path, FleetSettings({"air": 3}, "f", 9, speed=20.0, time_form="us"), start_us=START
    ) as run:
        wait_for(lambda: run.fleet.tally.readings > 30)
    found = [row for sensor, row in run.readings() if sensor == "air-0002"]
    again = AIR.measure(9, 2, "raw", START, Micros(found[-1]["ts"] + 1), AIR.sample_period_us)
    assert [row["ts"] for row in found] == again.time_us.tolist()
    assert [{k: v for k, v in row.items() if k not in ("ts", "seq")} for row in found] == again.list_rows()


def test_an_empty_battery_ends_a_mote(broker, tmp_path):
    with running(broker, tmp_path, FleetSettings({"air": 2}, "f", speed=20.0, battery_mah=1e-4)) as run:
        wait_for(lambda: run.fleet.tally.batteries_empty == 2)
    assert [line["battery"] for line in run.lines("energy")] == [0.0, 0.0]


def test_passwords_and_encryption_are_used(tmp_path):
    with Broker("ann", "secret", is_encrypted=True) as broker:
        url = broker.url.replace("//", "//ann:secret@")
        fleet = Fleet(FleetSettings({"air": 3}, speed=10.0), BrokerAddress.parse(url), certificate=broker.certificate)
        assert fleet.run(seconds=1.0).readings >= 3
        stranger = Fleet(FleetSettings({"air": 3}), BrokerAddress.parse(broker.url), certificate=broker.certificate)
        with pytest.raises(InputError, match=r"refuses the fleet: not authorized"):
            stranger.run(seconds=1.0)


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_two_thousand_motes_lose_nothing_that_was_acknowledged(broker, tmp_path):
    """For a minute: a twentieth of the motes die and come back, the broker is restarted, each mote is told once."""

    def answer(listener, topic, body):
        if topic.endswith("/state") and body["control"] == 0:
            listener.control(topic, control=1, sample_period_ms=2_000)

    kinds, faults = (
        {"traffic": 1000, "air": 500, "soil": 250, "vibration": 250},
        Faults(0.05, 30.0, 0.01, 0.01, 0.01, 0.01),
    )
    settings = FleetSettings(kinds, "f", listens_ms=200.0, faults=faults)
    with listening(broker, answer) as heard:
        with running(broker, tmp_path, settings) as run:
            wait_for(lambda: run.fleet.tally.states > 2_000)
            time.sleep(25)
            broker.restart()
            time.sleep(35)
        expected = set(canonical(run.readings()))
        wait_for(lambda: expected <= set(canonical(heard.readings())))
    tally = run.fleet.tally
    assert tally.unacknowledged_readings == 0
    assert tally.restarts >= 50
    assert tally.controls["taken"] >= 1_000
