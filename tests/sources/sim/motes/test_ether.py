"""Fleets in simulated time: the same motes, without a broker and without waiting."""

import json

import pytest

from skerry.errors import InputError
from skerry.model.time import Micros
from skerry.sensors.messages import Setting
from skerry.sources.mqtt.control import ControlChannel
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether

START = Micros(1_780_000_000_000_000)


def tell_time(ether):
    return Micros(START + int(ether.tell_seconds() * 1e6))


def connect(ether, prefix="motes"):
    """Proxies that hear a fleet and answer it."""
    channel = ControlChannel(f"{prefix}/{{sensor}}/state", ether.send)

    def take(topic, payload):
        if not channel.take_state(topic, payload, tell_time(ether), age_s=0.0):
            channel.note_data(topic, payload, tell_time(ether), age_s=0.0)

    ether.listen(take)
    return channel


def build(ether, kinds, **wanted):
    return Fleet(FleetSettings(kinds, **wanted), None, start_us=START, ether=ether)


def test_a_fleet_sends_in_simulated_time_what_it_sends_on_a_broker():
    ether, heard = Ether(), []
    ether.listen(lambda topic, payload: heard.append(json.loads(payload)))
    tally = build(ether, {"air": 2}).run(seconds=60.0)
    assert 118 <= tally.readings == sum(len(body.get("readings", ())) for body in heard) <= 120
    assert 60.0 <= ether.tell_seconds() < 61.0


def test_proxies_bring_motes_to_what_is_wanted():
    ether = Ether()
    channel = connect(ether)
    channel.want({"air-0001": Setting("dust", Micros(500_000))}, others=Setting(asleep=True))
    fleet = build(ether, {"air": 3})
    fleet.run(seconds=10.0)
    assert [mote.setting.program for mote in fleet.motes if not mote.is_asleep] == ["dust"]
    assert (fleet.tally.controls["taken"], fleet.tally.controls["outside"]) == (3, 0)


def test_control_that_comes_after_the_window_is_counted_as_outside():
    ether = Ether(slowest_ms=400.0)
    channel = connect(ether)
    channel.want({}, others=Setting(asleep=True))
    fleet = build(ether, {"air": 20}, listens_ms=5.0)
    fleet.run(seconds=20.0)
    assert fleet.tally.controls["outside"] > 0


def test_equal_seeds_are_equal_runs():
    def run(seed):
        ether, heard = Ether(seed), []
        ether.listen(lambda topic, payload: heard.append((ether.tell_seconds(), topic, payload)))
        build(ether, {"air": 2}).run(seconds=5.0)
        return heard

    assert run(1) == run(1) != run(2)


def test_windows_that_overlap_are_one_and_cost_what_they_last():
    fleet = build(Ether(), {"air": 1}, listening_mw=10.0)
    (mote,) = fleet.motes
    for now_s in (1.0, 1.02, 5.0):
        mote.listen(now_s)
    assert mote.windows == 2
    assert mote.meter.listening_mj == pytest.approx(10.0 * (0.07 + 0.05))


def test_a_fleet_needs_something_that_carries_its_messages():
    with pytest.raises(InputError, match="an ether"):
        Fleet(FleetSettings({"air": 1}), None)
