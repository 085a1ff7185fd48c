"""What settings were forecast to cost, beside what the meters of simulated motes say."""

from dataclasses import dataclass

import pytest

from skerry.model.time import Micros
from skerry.sensors.forecast import Basis, Forecast, Forecaster
from skerry.sensors.messages import Setting
from skerry.sensors.power import PowerModel
from skerry.sensors.seen import Seen
from skerry.sources.mqtt.control import ControlChannel
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether
from skerry.sources.sim.motes.kinds import KINDS

START = Micros(1_780_012_800_000_000)
"""A midnight, UTC."""
NOON = Micros(START + 43_200_000_000)
DAY_S, SETTLED_S = 86_400.0, 70.0
NEAR = 0.10
ASLEEP = Setting(asleep=True)


def every(seconds, program="raw", columns=None, **ranges):
    return Setting(program, Micros(round(seconds * 1e6)), columns, ranges)


REGULAR = {
    "traffic": [every(1.0), every(1 / 60), every(1.0, "counts"), every(1 / 60, "counts"), every(7.0), ASLEEP],
    "air": [every(1.0, columns=("pm25",)), every(0.5), every(1.0, "dust"), every(1.0, "means"), every(10.0), ASLEEP],
    "soil": [every(5.0), every(5.0, "moisture"), every(5.0, "means"), every(60.0), ASLEEP],
    "vibration": [every(0.2), every(0.05), every(0.2, "summary"), every(2.0), ASLEEP],
}
"""Settings whose readings all pass."""
NARROW = {
    "traffic": [
        every(1.0, "vehicles"),
        every(1.0, speed=((None, 55.0),)),
        every(1.0, "counts", flow=((1.0, None),)),
        every(1.0, "vehicles", speed=((60.0, None),)),
    ],
    "air": [
        every(1.0, pm25=((15.0, None),)),
        every(1.0, "dust", pm25=((None, 12.0),)),
        every(5.0, no2=((20.0, 40.0),)),
    ],
    "soil": [every(5.0, temperature=((None, 14.0),)), every(5.0, "moisture", moisture=((20.0, None),))],
    "vibration": [every(0.2, acceleration=((0.5, None),)), every(0.2, "summary", rms=((1.0, None),))],
}
"""Settings that leave readings out."""


def build(ether, kinds, start_us, **wanted):
    """A fleet in simulated time, and the proxies that hear it."""
    channel = ControlChannel("motes/{sensor}/state", ether.send)

    def take(topic, payload):
        now = Micros(start_us + int(ether.tell_seconds() * 1e6))
        if not channel.take_state(topic, payload, now, age_s=0.0):
            channel.note_data(topic, payload, now, age_s=0.0)

    ether.listen(take)
    settings = FleetSettings(kinds, time_form="us", **wanted)
    return Fleet(settings, None, start_us=start_us, ether=ether), channel


def find_program(kind, setting):
    return next((each for each in KINDS[kind].programs if each.name == setting.program), None)


def forecast(forecaster, kind, setting, seen):
    if setting.asleep:
        return forecaster.forecast_asleep(seen)
    return forecaster.forecast(find_program(kind, setting), setting, seen)


@dataclass(frozen=True)
class Compared:
    """A setting of a mote: forecast before it had it, metered while it had it, and forecast after that."""

    name: str
    setting: Setting
    ahead: Forecast
    metered_mw: float
    after: Forecast

    @property
    def errors(self):
        return [round(each.total_mw / self.metered_mw - 1.0, 3) for each in (self.ahead, self.after)]


def compare(wanted, watched_s, metered_s, start_us=START, listening_mw=0.0):
    """A mote per kind and setting: they run as they were built for a while, and then with their settings."""
    ether, forecaster = Ether(), Forecaster(PowerModel(listening_mw=listening_mw))
    kinds = {kind: len(settings) for kind, settings in wanted.items()}
    fleet, channel = build(ether, kinds, start_us, listening_mw=listening_mw)
    settings = {f"{kind}-{n:04}": each for kind, several in wanted.items() for n, each in enumerate(several)}
    ahead, before = {}, {}

    def look():
        proxies = channel.list_proxies()
        seen = {name: proxies[name].watch.describe() if name in proxies else Seen() for name in settings}
        return {n: forecast(forecaster, n.split("-")[0], each, seen[n]) for n, each in settings.items()}

    def tell():
        ahead.update(look())
        channel.want(settings, ASLEEP)

    ether.plan(watched_s, tell)
    ether.plan(watched_s + SETTLED_S, lambda: before.update({m.name: m.meter.total_mj for m in fleet.motes}))
    fleet.run(watched_s + SETTLED_S + metered_s)
    assert fleet.tally.controls["outside"] == 0
    metered = {mote.name: (mote.meter.total_mj - before[mote.name]) / metered_s for mote in fleet.motes}
    after = look()
    return [Compared(n, each, ahead[n], metered[n], after[n]) for n, each in settings.items()]


def list_wrong(found, which):
    return [(each.name, each.setting, each.errors[which]) for each in found if abs(each.errors[which]) > NEAR]


def test_settings_whose_readings_all_pass_cost_what_was_forecast_before_anything_was_seen():
    found = compare(REGULAR, 0.0, 180.0, listening_mw=9.0)
    assert not list_wrong(found, 0)
    assert {each.ahead.basis for each in found} == {Basis.REGULAR}


def test_settings_that_leave_readings_out_cost_what_was_counted():
    found = compare(NARROW, 0.0, 300.0, NOON)
    assert not list_wrong(found, 1)
    assert {each.after.basis for each in found} == {Basis.COUNTED}
    unknown = [each for each in found if each.setting.ranges]
    assert {each.ahead.basis for each in unknown} == {Basis.UNKNOWN}
    assert all(each.ahead.least_mw <= each.metered_mw * 1.01 <= each.ahead.most_mw * 1.02 for each in unknown)


@pytest.mark.soak
@pytest.mark.whole
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", KINDS)
def test_a_day_of_motes_costs_what_was_forecast(kind):
    """By what was counted in the day itself. Settings of which all readings pass are forecast before, too."""
    found = compare({kind: [*REGULAR[kind], *NARROW[kind]]}, 0.0, DAY_S)
    assert not list_wrong(found, 1)
    assert not [each for each in list_wrong(found, 0) if each[1] in REGULAR[kind]]
