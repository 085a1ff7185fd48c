"""How exact speed and length are at a sample rate, by motes that sample simulated loops."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from skerry.experiments.figure import Figure, Outcome, Panel, Verdict
from skerry.experiments.fjords.claims import BASELINE_HZ, judge_near, judge_true, read_at
from skerry.experiments.fjords.workload import (
    LONGEST_CAR,
    PAIR_FEET,
    Measured,
    draw_cars,
    draw_traffic,
    find_period,
    measure,
)
from skerry.model.arrays import Bools, Float64s
from skerry.model.time import MICROS
from skerry.sensors.traffic import accuracy as bounds
from skerry.sensors.traffic.loops import Passages
from skerry.sensors.traffic.pair import MPH

__all__ = ["measure_cars", "measure_traffic"]

Row = dict[str, float | str]

_CAR_SPEED = 60.0 * MPH
_PAIRS = 50
_KNOWN = "speed known"
_DISTANCES = {"loops 10 ft apart": 10.0, "loops 5 ft apart": 5.0}
_SHORTEST_TRUCK = 30.0
_ONE_STEP = (
    "both t0 and t2 are late by up to a sample period, so their difference is wrong by the 6 inches of one period, "
    "not by 12"
)
_PANELS = (
    Panel("length_mean", "error of length, mean, ft"),
    Panel("length_p95", "95th percentile, ft"),
    Panel("length_bound", "bound, ft"),
)


def measure_cars(rates: Sequence[float], count: int) -> Figure:
    """The paper's example, 60 mph; ``rates`` have 180 Hz and half of it among them."""
    cars = draw_cars(_PAIRS, count // _PAIRS)
    rows = [row for hz in rates for row in _measure_rate(cars, hz)]
    title = "Accuracy at 60 mph: cars of 15 feet"
    figure = Figure("fjords_accuracy", title, pa.Table.from_pylist(rows), "sample_hz", _PANELS, ())
    notes = [
        f"{count:,} cars of 14.5 to 15.5 ft over {_PAIRS} pairs of motes. The two of a pair sample at different "
        "moments but have one time. Speeds are in mph, lengths in feet.",
        "Bounds, with the step s = speed / rate: s if the speed is known, else length * s / (distance - s), of the "
        "longest car.",
    ]
    return figure.with_verdicts([*_judge_foot(figure), _judge_bounds(figure)], notes)


def _measure_rate(cars: Sequence[Passages], hz: float) -> list[Row]:
    exact_hz = MICROS["SECOND"] / find_period(hz)
    rows = []
    for name, distance in _DISTANCES.items():
        found = measure(cars, distance, hz)
        bound = bounds.bound_length(LONGEST_CAR, _CAR_SPEED, distance, exact_hz)
        rows.append(_make_row(name, hz, found.speed_error, found.length_error, length_bound=bound))
    bound = bounds.bound_length_at_known_speed(_CAR_SPEED, exact_hz)
    return [_make_row(_KNOWN, hz, np.zeros(1), found.known_speed_error, length_bound=bound), *rows]


def _make_row(technique: str, hz: float, speed_error: Float64s, length_error: Float64s, **others: float) -> Row:
    errors = _summarise("speed", speed_error / MPH) | _summarise("length", length_error)
    return {"technique": technique, "sample_hz": hz, **errors, **others}


def _summarise(name: str, errors: Float64s) -> dict[str, float]:
    """Mean, 95th percentile and maximum of what was measured."""
    sizes = np.abs(errors[~np.isnan(errors)])
    if not sizes.size:
        return {f"{name}_{word}": float("nan") for word in ("mean", "p95", "max")}
    found = {"mean": sizes.mean(), "p95": np.percentile(sizes, 95), "max": sizes.max()}
    return {f"{name}_{word}": round(float(number), 4) for word, number in found.items()}


def _judge_foot(figure: Figure) -> list[Verdict]:
    half_hz, wanted_hz = BASELINE_HZ / 2, bounds.find_rate_at_known_speed(1.0, _CAR_SPEED)
    at_baseline, at_half = (read_at(figure, _KNOWN, "length_max", hz) for hz in (BASELINE_HZ, half_hz))
    needed = {name: bounds.find_rate(1.0, LONGEST_CAR, _CAR_SPEED, distance) for name, distance in _DISTANCES.items()}
    rates = ", ".join(f"{hz:.0f} Hz with {name}" for name, hz in needed.items())
    six_inches_hz = _CAR_SPEED / 0.5
    return [
        judge_near("a car at 60 mph goes 6 inches in a sample period", BASELINE_HZ, six_inches_hz, "Hz"),
        judge_true(
            f"{BASELINE_HZ:g} Hz give a length to one foot at 60 mph if the speed is known",
            "1 ft",
            f"{at_baseline:.2f} ft at the most",
            at_baseline <= 1.0,
        ),
        judge_true(
            "one foot at 60 mph, speed known, wants a sample rate",
            f"{BASELINE_HZ:g} Hz",
            f"{wanted_hz:.0f} Hz; {at_half:.2f} ft at the most at {half_hz:g} Hz",
            at_half > 1.0,
            _ONE_STEP,
        ),
        judge_true(
            "if the speed is measured too, it wants a faster one",
            "faster",
            f"{rates}, where {wanted_hz:.0f} Hz do at known speed",
            min(needed.values()) > wanted_hz,
        ),
    ]


def _judge_bounds(figure: Figure) -> Verdict:
    shares = [row["length_max"] / row["length_bound"] for row in figure.table.to_pylist()]
    ours = f"the largest errors are {100 * min(shares):.0f} to {100 * max(shares):.0f} % of the bounds"
    return Verdict("no length is wrong by more than its bound", "not in the paper", ours, _judge(max(shares) <= 1.001))


def measure_traffic(rates: Sequence[float], minutes: int) -> Figure:
    """Cars and trucks of a simulated road, each at its own speed; ``rates`` have 180 Hz among them."""
    lanes = draw_traffic(minutes)
    rows = [row for hz in rates for row in _measure_lanes(lanes, hz)]
    panels = (
        Panel("speed_mean", "error of speed, mean, mph"),
        Panel("length_mean", "error of length, mean, ft"),
        Panel("length_p95", "95th percentile, ft"),
    )
    title = "Accuracy in simulated traffic, loops 10 ft apart"
    figure = Figure("fjords_accuracy_traffic", title, pa.Table.from_pylist(rows), "sample_hz", panels, ())
    notes = [
        f"{minutes} minutes from noon of eight road lanes, {sum(lane.feet.size for lane in lanes):,} vehicles. Trucks "
        f"are those of {_SHORTEST_TRUCK:g} ft or more. Vehicles closer than 50 ms behind another are left out.",
        "measured: the share of vehicles with a speed; within: the share of these within the bounds of their own speed "
        "and length.",
    ]
    return figure.with_verdicts(_judge_traffic(figure), notes)


def _measure_lanes(lanes: Sequence[Passages], hz: float) -> list[Row]:
    found = measure(lanes, PAIR_FEET, hz)
    feet, speeds = (np.concatenate([getattr(lane, name) for lane in lanes]) for name in ("feet", "feet_per_s"))
    within = _stay_within(feet, speeds, found, hz)
    is_truck: Bools = feet >= _SHORTEST_TRUCK
    return [
        _make_row(
            name,
            hz,
            found.speed_error[kind],
            found.length_error[kind],
            measured=_share(~np.isnan(found.length_error[kind])),
            within=_share(within[kind]),
        )
        for name, kind in (("cars", ~is_truck), ("trucks", is_truck))
    ]


def _stay_within(feet: Float64s, speeds: Float64s, found: Measured, hz: float) -> Bools:
    """Whether errors are within the bounds of each vehicle; those that were not measured count as such."""
    exact_hz = MICROS["SECOND"] / find_period(hz)
    longest = np.array([bounds.bound_length(*each, PAIR_FEET, exact_hz) for each in zip(feet, speeds, strict=True)])
    fastest = np.array([bounds.bound_speed(speed, PAIR_FEET, exact_hz) for speed in speeds])
    outside = (np.abs(found.length_error) > longest * 1.001) | (np.abs(found.speed_error) > fastest * 1.001)
    return ~outside


def _judge_traffic(figure: Figure) -> list[Verdict]:
    errors = {
        kind: tuple(read_at(figure, kind, f"length_{word}") for word in ("mean", "p95")) for kind in ("cars", "trucks")
    }
    ours = ", ".join(f"{kind} {mean:.2f} and {p95:.2f} ft" for kind, (mean, p95) in errors.items())
    within = min(figure.table.column("within").to_pylist())
    return [
        Verdict(
            f"{BASELINE_HZ:g} Hz give 95 % of lengths to one foot (mean, 95th percentile)",
            "1 ft, at 60 mph and with the speed known",
            ours,
            Outcome.HOLDS if max(p95 for _, p95 in errors.values()) <= 1.0 else Outcome.DIRECTION,
            "the error of a measured speed weighs with the length; a truck of 48 ft at 60 mph wants 431 Hz",
        ),
        Verdict(
            "no speed or length is wrong by more than its bound",
            "not in the paper",
            f"{100 * within:.1f} % are within, at the worst rate",
            _judge(within == 1.0),
        ),
    ]


def _share(mask: Bools) -> float:
    return round(float(mask.mean()), 4) if mask.size else 1.0


def _judge(holds: bool) -> Outcome:
    return Outcome.HOLDS if holds else Outcome.FAILS
