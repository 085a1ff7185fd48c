"""What motes take that run the three programs on simulated traffic, beside what the model predicts."""

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.fjords.claims import BASELINE_HZ, judge_true, read_at
from skerry.experiments.fjords.workload import draw_traffic, find_period, sample_loop
from skerry.model.arrays import Bools
from skerry.model.time import MICROS
from skerry.sensors.energy_meter import EnergyMeter
from skerry.sensors.power import PowerModel
from skerry.sensors.program import Program
from skerry.sensors.traffic.count_program import CountProgram
from skerry.sensors.traffic.loops import SampleClock
from skerry.sensors.traffic.programs import COUNTS, PROGRAMS, RAW, VEHICLES
from skerry.sensors.traffic.vehicle_program import VehicleProgram

__all__ = ["measure_motes"]

_MODEL = PowerModel()
_NEAR = 0.1
_READINGS: Mapping[Program, Callable[[SampleClock, Bools], int]] = {
    RAW: lambda clock, samples: samples.size,
    VEHICLES: lambda clock, samples: VehicleProgram(clock).take(samples).on_us.size,
    COUNTS: lambda clock, samples: CountProgram(clock).take(samples).vehicles.size,
}
"""How many readings a mote sends that runs a program on its samples."""


def measure_motes(rates: Sequence[float], minutes: int) -> Figure:
    """Power by sample rate; ``rates`` have 180 Hz among them."""
    lanes = draw_traffic(minutes)
    rows = []
    for hz in rates:
        clock = SampleClock(find_period(hz))
        signals = [sample_loop(lane, clock) for lane in lanes]
        rows += [_meter(program, clock, signals) | {"sample_hz": hz} for program in PROGRAMS]
    panels = (
        Panel("metered_mw", "metered power, mW", logarithmic=True),
        Panel("predicted_mw", "predicted, mW", logarithmic=True),
    )
    title = "Power of motes in simulated traffic"
    figure = Figure("fjords_metered", title, pa.Table.from_pylist(rows), "sample_hz", panels, ())
    notes = [
        f"The upstream loops of eight road lanes, {minutes} minutes from noon. Energy is metered from samples, cycles "
        "and bits. predicted_mw is Figure 10's, with five vehicles per second.",
    ]
    return figure.with_verdicts(_judge(figure), notes)


def _meter(program: Program, clock: SampleClock, signals: Sequence[Bools]) -> dict[str, float | str]:
    """Mean power over motes."""
    meter = EnergyMeter(_MODEL)
    samples = sum(signal.size for signal in signals)
    span_s = samples * clock.period_us / MICROS["SECOND"]
    readings = sum(_READINGS[program](clock, signal) for signal in signals)
    cycles = samples * program.cycles_per_sample
    meter.spend(seconds=span_s, samples=samples, cycles=cycles, bits=readings * program.bits)
    power_mw = _MODEL.power(program, MICROS["SECOND"] / clock.period_us).total_mw
    return {
        "technique": program.name,
        "readings_per_s": round(readings / span_s, 4),
        "metered_mw": round(meter.total_mj / span_s, 5),
        "predicted_mw": round(power_mw, 5),
    }


def _judge(figure: Figure) -> list[Verdict]:
    apart = {
        program.name: max(
            abs(metered / predicted - 1.0)
            for metered, predicted in zip(
                figure.line(program.name, "metered_mw")[1], figure.line(program.name, "predicted_mw")[1], strict=True
            )
        )
        for program in (RAW, COUNTS)
    }
    passing, vehicles_mw = (read_at(figure, VEHICLES.name, measure) for measure in ("readings_per_s", "metered_mw"))
    days = _MODEL.life_us(vehicles_mw) / MICROS["DAY"]
    here = f"{passing:.2f} vehicles per second pass: {vehicles_mw:.3g} mW, {days / 7:.1f} weeks"
    return [
        judge_true(
            "raw and counts take what is predicted, within 10 %",
            "not in the paper",
            ", ".join(f"{name} within {100 * share:.2f} %" for name, share in apart.items()),
            max(apart.values()) <= _NEAR,
        ),
        judge_true(
            f"vehicles take at most what five per second take, at {BASELINE_HZ:g} Hz",
            "1.1 mW, two and a half weeks",
            here,
            vehicles_mw <= read_at(figure, VEHICLES.name, "predicted_mw"),
        ),
    ]
