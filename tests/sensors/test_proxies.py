"""A sensor comes to do what is wanted, whatever gets lost on the way."""

import random
from dataclasses import replace

import pytest

from skerry.model.time import Micros
from skerry.sensors.messages import SensorState, Setting
from skerry.sensors.proxies import Proxies

RAW, COUNTS, ASLEEP = Setting("raw"), Setting("counts"), Setting(asleep=True)
SECOND = 1_000_000


class Mote:
    """A sensor that listens once a second."""

    def __init__(self):
        self.state, self.taken, self.ignored = SensorState(RAW), 0, 0

    def take(self, control):
        if control.number > self.state.control:
            self.state, self.taken = SensorState(control.setting, control.number), self.taken + 1
        else:
            self.ignored += 1

    def restart(self):
        self.state = SensorState(RAW)


def run(proxies, mote, seconds, random_, loss=0.0, start=0):
    """Let time pass: states and controls get lost at random."""
    for second in range(start, start + seconds):
        state = mote.state if random_.random() >= loss else None
        control = proxies.hear("a", Micros(second * SECOND), state, listens=True)
        if control and random_.random() >= loss:
            mote.take(control)
    return start + seconds


@pytest.mark.parametrize("seed", range(20))
def test_settings_arrive_though_half_of_all_messages_are_lost(seed):
    random_, proxies, mote = random.Random(seed), Proxies(), Mote()
    now = 0
    for wanted in (COUNTS, ASLEEP, RAW, COUNTS):
        proxies.want({"a": wanted})
        now = run(proxies, mote, 600, random_, loss=0.5, start=now)
        assert mote.state.setting == wanted
    assert mote.taken == 4


def test_control_goes_out_only_while_the_sensor_listens():
    proxies = Proxies()
    proxies.want({"a": COUNTS})
    assert proxies.hear("a", Micros(0), SensorState(RAW), listens=False) is None
    assert proxies.hear("a", Micros(1), listens=True).setting == COUNTS


def test_two_windows_are_enough_where_nothing_is_lost():
    proxies, mote = Proxies(), Mote()
    proxies.want({"a": COUNTS})
    run(proxies, mote, 2, random.Random(0))
    assert (mote.state.setting, proxies.count_waiting()) == (COUNTS, 0)


def test_sensor_that_does_what_is_wanted_is_left_alone():
    proxies, mote = Proxies(), Mote()
    proxies.want({"a": RAW})
    run(proxies, mote, 10, random.Random(0))
    assert mote.taken == mote.ignored == 0


def test_sensor_that_restarts_gets_its_setting_again():
    proxies, mote = Proxies(), Mote()
    proxies.want({"a": COUNTS})
    now = run(proxies, mote, 3, random.Random(0))
    mote.restart()
    run(proxies, mote, 3, random.Random(0), start=now)
    assert (mote.state.setting, mote.taken) == (COUNTS, 2)


def test_proxies_that_restart_go_on_with_higher_numbers():
    mote = Mote()
    for wanted in (COUNTS, ASLEEP, COUNTS):
        proxies = Proxies()
        proxies.want({"a": wanted})
        run(proxies, mote, 3, random.Random(0), start=1)
        assert mote.state.setting == wanted
    assert mote.ignored == 0


def test_control_is_repeated_with_growing_pauses_and_one_number():
    proxies = Proxies()
    proxies.want({"a": COUNTS})
    sent = [(at, proxies.hear("a", Micros(at * SECOND), listens=True)) for at in range(100)]
    times = [at for at, control in sent if control]
    assert times == [0, 1, 3, 7, 15, 31, 63]
    assert len({control.number for _, control in sent if control}) == 1


def test_sensors_that_nobody_asks_for_get_the_setting_of_others():
    proxies = Proxies()
    proxies.want({"a": COUNTS}, others=ASLEEP)
    assert proxies.hear("b", Micros(0), SensorState(RAW), listens=True).setting == ASLEEP
    assert proxies.hear("a", Micros(0), SensorState(RAW), listens=True).setting == COUNTS


def test_ranges_that_are_no_longer_wanted_are_taken_back():
    proxies, narrow = Proxies(), replace(RAW, ranges={"speed": ((0.0, 30.0),)})
    proxies.want({"a": RAW})
    assert proxies.hear("a", Micros(0), SensorState(narrow), listens=True).setting.ranges == {}
