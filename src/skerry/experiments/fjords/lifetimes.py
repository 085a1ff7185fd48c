"""How long a battery lasts with each program, and how fast a program may sample if it is to last."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.fjords.claims import BASELINE_HZ, judge_near, judge_true, read_at
from skerry.model.time import MICROS, Micros
from skerry.sensors.energy_meter import EnergyMeter
from skerry.sensors.power import PowerModel
from skerry.sensors.program import Program
from skerry.sensors.traffic.programs import COUNTS, PROGRAMS, RAW, VEHICLES

__all__ = ["measure_lifetimes", "measure_rates"]

_MODEL = PowerModel()
_DAY = MICROS["DAY"]
_FEW_VEHICLES = replace(VEHICLES, name="vehicles, one in 4 s", readings_per_s=0.25)
"""As on the simulated road: Figure 10 has five per second, which is the most that there can be."""
_CONTRADICTS = "Table 1 and 100 mAh at 5 V, 1,800 J, do not give it"
_FLOOR = "true of raw, whose radio sends every sample; the others send, and idle, as much at any rate"


def measure_lifetimes(rates: Sequence[float]) -> Figure:
    """Days on a battery by sample rate; ``rates`` have 180 Hz, and half of it, among them."""
    rows = [
        {"technique": program.name, "sample_hz": hz, "days": round(_live_days(program, hz), 4)}
        for program in PROGRAMS
        for hz in rates
    ]
    table, panels = pa.Table.from_pylist(rows), (Panel("days", "battery life, days", logarithmic=True),)
    figure = Figure("fjords_lifetimes", "Battery life on 100 mAh", table, "sample_hz", panels, ())
    verdicts = [*_judge_lives(figure), _judge_proportion(figure), *_judge_battery()]
    weeks = read_at(figure, COUNTS.name, "days") / 7.0
    counts = f"Counts last {weeks:.1f} weeks at {BASELINE_HZ:g} Hz; the paper gives no number."
    return figure.with_verdicts(verdicts, ["Computed from Table 1, as Figure 10 is. Radios do not listen.", counts])


def _live_days(program: Program, sample_hz: float) -> float:
    return _MODEL.life_us(_MODEL.power(program, sample_hz).total_mw) / _DAY


def _judge_lives(figure: Figure) -> list[Verdict]:
    raw, vehicles = (read_at(figure, program.name, "days") for program in (RAW, VEHICLES))
    at = f"at {BASELINE_HZ:g} Hz"
    return [
        judge_near(f"battery life {at}, raw", 1.5, raw, "days"),
        judge_near(f"battery life {at}, vehicles", 2.5, vehicles / 7.0, "weeks"),
    ]


def _judge_proportion(figure: Figure) -> Verdict:
    half = BASELINE_HZ / 2
    longer = {
        program.name: read_at(figure, program.name, "days", half) / read_at(figure, program.name, "days")
        for program in (RAW, VEHICLES, COUNTS)
    }
    ours = ", ".join(f"{name} {factor:.2f}" for name, factor in longer.items())
    claim = f"battery life is proportional to the sample period: at {half:g} Hz twice that at {BASELINE_HZ:g} Hz"
    holds = all(abs(factor - 2.0) < 0.1 for factor in longer.values())
    return Verdict(claim, "2 times", f"{ours} times", *((Outcome.HOLDS, "") if holds else (Outcome.DIRECTION, _FLOOR)))


def _judge_battery() -> list[Verdict]:
    hours = _MODEL.life_us(_MODEL.active_mw) / MICROS["HOUR"]
    megabytes = _MODEL.battery_mj / (4.0 / 1000.0) / 8 / 1e6
    return [
        judge_near("100 mAh run the processor at full speed (section 3.1)", 3.5, hours, "hours", _CONTRADICTS),
        judge_near("100 mAh send, at 4 µJ per bit (section 3.1)", 14.0, megabytes, "MB", _CONTRADICTS),
    ]


def measure_rates(lifetimes_days: Sequence[float]) -> Figure:
    """The highest sample rate that lets a battery last; checked by a mote that runs so long and meters itself."""
    rows = [
        {"technique": program.name, "days": days, "sample_hz": round(rate, 4), "lasted": _last(program, rate, days)}
        for program in (*PROGRAMS, _FEW_VEHICLES)
        for days in lifetimes_days
        if (rate := _MODEL.highest_rate(program, Micros(round(days * _DAY))))
    ]
    table, panels = pa.Table.from_pylist(rows), (Panel("sample_hz", "highest sample rate, Hz", logarithmic=True),)
    figure = Figure("fjords_rates", "The highest sample rate by lifetime, 100 mAh", table, "days", panels, ())
    lasted = table.column("lasted").to_pylist()
    claim = "a mote that samples at the rate chosen for a lifetime lasts as long"
    ours, holds = f"{100 * min(lasted):.3f} % of it or more", min(lasted) > 0.99999
    note = "lasted is the metered life as a share of the lifetime asked for."
    return figure.with_verdicts([judge_true(claim, "not in the paper", ours, holds)], [note])


def _last(program: Program, sample_hz: float, days: float) -> float:
    meter, span_s = EnergyMeter(_MODEL), days * _DAY / MICROS["SECOND"]
    samples, readings = sample_hz * span_s, program.count_readings(sample_hz) * span_s
    cycles, bits = samples * program.cycles_per_sample, readings * program.bits
    meter.spend(seconds=span_s, samples=samples, cycles=cycles, bits=bits)
    return round(_MODEL.battery_mj / meter.total_mj, 6)
