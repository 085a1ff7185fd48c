"""Forecasts of power a day ahead, beside what the meters of simulated motes say (decision 035).

Motes of all kinds run for a day as they were built, from midnight on. Proxies watch them, some for the whole day
and some for its last hours alone. Then each mote is told a setting that leaves readings out. What its forecast was at
that moment, by what each proxy had seen, is compared with the energy that it took in the day after.

    python benchmarks/forecasts.py
    python benchmarks/forecasts.py --kinds air soil --hours 6 --json forecasts.json
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from _report import Report

from skerry.model.time import MICROS, Micros
from skerry.sensors.forecast import Forecast, Forecaster
from skerry.sensors.messages import Ranges, Setting
from skerry.sensors.seen import Seen
from skerry.sources.mqtt.control import ControlChannel
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether
from skerry.sources.sim.motes.kinds import KINDS

_START = Micros(1_780_012_800_000_000)
"""A midnight, UTC."""
_SETTLED_S, _HOUR_S = 70.0, 3_600.0
_WATCHED_HOURS = (24.0, 6.0, 1.0)
"""How many hours before the settings are told each proxy begins to watch."""


def _set(seconds: float, program: str = "raw", **ranges: Ranges) -> Setting:
    return Setting(program, Micros(round(seconds * MICROS["SECOND"])), None, ranges)


SETTINGS = {
    "traffic": (
        _set(1.0, "vehicles"),
        _set(1.0, speed=((None, 55.0),)),
        _set(1.0, "counts", flow=((1.0, None),)),
        _set(1.0, "vehicles", speed=((60.0, None),)),
    ),
    "air": (_set(1.0, pm25=((15.0, None),)), _set(1.0, "dust", pm25=((None, 12.0),)), _set(5.0, no2=((20.0, 40.0),))),
    "soil": (_set(5.0, temperature=((None, 14.0),)), _set(5.0, "moisture", moisture=((20.0, None),))),
    "vibration": (_set(0.2, acceleration=((0.5, None),)), _set(0.2, "summary", rms=((1.0, None),))),
}


def name(setting: Setting) -> str:
    """A setting in short."""
    spans = [f"{column} {low or ''}..{high or ''}" for column, each in setting.ranges.items() for low, high in each]
    return " ".join([str(setting.program), *spans])


def watch(ether: Ether, starts: Sequence[float]) -> list[ControlChannel]:
    """Proxies for each sensor: some for each of these seconds, which hear what comes from it on."""
    channels = [ControlChannel("motes/{sensor}/state", ether.send) for _ in starts]

    def take(topic: str, payload: bytes) -> None:
        now_s = ether.tell_seconds()
        now = Micros(_START + int(now_s * MICROS["SECOND"]))
        for from_s, channel in zip(starts, channels, strict=True):
            if now_s >= from_s and not channel.take_state(topic, payload, now, age_s=0.0):
                channel.note_data(topic, payload, now, age_s=0.0)

    ether.listen(take)
    return channels


def forecast(kind: str, setting: Setting, seen: Seen) -> Forecast:
    """What a setting will take."""
    program = next(each for each in KINDS[kind].programs if each.name == setting.program)
    return Forecaster().forecast(program, setting, seen)


def compare(kind: str, watched_s: float, metered_s: float, report: Report) -> None:
    """Run one kind's motes, one for each setting, and tell how far the forecasts were off."""
    ether = Ether()
    hours = [each for each in _WATCHED_HOURS if each * _HOUR_S <= watched_s]
    found = watch(ether, [watched_s - each * _HOUR_S for each in hours])
    channels = {f"{each:g} h": channel for each, channel in zip(hours, found, strict=True)}
    wanted = {f"{kind}-{number:04}": each for number, each in enumerate(SETTINGS[kind])}
    fleet = Fleet(FleetSettings({kind: len(wanted)}, time_form="us"), None, start_us=_START, ether=ether)
    ahead: dict[str, Mapping[str, Forecast]] = {}
    before: dict[str, float] = {}

    def tell() -> None:
        for label, channel in channels.items():
            proxies = channel.list_proxies()
            ahead[label] = {n: forecast(kind, each, proxies[n].watch.describe()) for n, each in wanted.items()}
        next(iter(channels.values())).want(wanted, None)

    ether.plan(watched_s, tell)
    ether.plan(watched_s + _SETTLED_S, lambda: before.update({m.name: m.meter.total_mj for m in fleet.motes}))
    fleet.run(watched_s + _SETTLED_S + metered_s)
    for mote in fleet.motes:
        metered_mw = (mote.meter.total_mj - before[mote.name]) / metered_s
        setting = f"{kind} {name(wanted[mote.name])}"
        report.tell(f"{setting}, metered", metered_mw, "mW")
        for label, forecasts in ahead.items():
            each = forecasts[mote.name]
            report.tell(f"{setting}, off by, from {label} ({each.basis})", 100 * (each.total_mw / metered_mw - 1), "%")
            report.tell(f"{setting}, from {label}, least", each.least_mw, "mW")
            report.tell(f"{setting}, from {label}, most", each.most_mw, "mW")
            is_within = each.least_mw <= 1.001 * metered_mw and metered_mw <= 1.001 * each.most_mw
            report.tell(f"{setting}, from {label}, within its limits", float(is_within), "(1: yes)")


def main() -> None:
    """Compare all kinds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--hours", type=float, default=24.0, help="how long motes are watched, and metered")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    report = Report()
    for kind in asked.kinds:
        compare(kind, asked.hours * _HOUR_S, asked.hours * _HOUR_S, report)
    if asked.json:
        asked.json.write_text(json.dumps(report.found))


if __name__ == "__main__":
    main()
