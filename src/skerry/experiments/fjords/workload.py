"""What passes over the loops: cars as the paper has them, and an hour of simulated traffic."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from skerry.model.arrays import Bools, Float64s
from skerry.model.time import MICROS, Micros
from skerry.sensors.traffic.loops import Covers, Passages, SampleClock, sample
from skerry.sensors.traffic.pair import MPH, LoopPair
from skerry.sensors.traffic.vehicle_program import VehicleProgram
from skerry.sources.sim.traffic.road import Road
from skerry.sources.sim.traffic.vehicles import Traffic

__all__ = ["LONGEST_CAR", "PAIR_FEET", "Measured", "draw_cars", "draw_traffic", "find_period", "measure", "sample_loop"]

LONGEST_CAR = 15.5
"""In feet."""
PAIR_FEET = 10.0
"""How far the loops of a pair are apart in simulated traffic: less than the shortest car."""

_SECOND = MICROS["SECOND"]
_NOON = Micros(960_206_400_000_000)
"""On Monday, 5 June 2000: most drive 50 to 68 mph."""
_LEAST_GAP_US = 50_000


@dataclass(frozen=True)
class Measured:
    """Errors, an entry per vehicle, NaN if it could not be measured; those of length also with the speed known."""

    speed_error: Float64s
    length_error: Float64s
    known_speed_error: Float64s


def draw_cars(pairs: int, cars: int, mph: float = 60.0, seed: int = 1) -> list[Passages]:
    """Cars of 14.5 to 15.5 feet at one speed, about a second apart, pair by pair.

    They differ a little, for if all covered a loop equally long, their errors could take two values only.
    """
    random = np.random.default_rng(seed)
    front_us = np.cumsum(random.integers(_SECOND * 4 // 5, _SECOND * 6 // 5, (pairs, cars)), axis=1)
    feet = random.uniform(14.5, LONGEST_CAR, (pairs, cars))
    speeds = np.full(cars, mph * MPH)
    return [Passages(fronts, speeds, own_feet) for fronts, own_feet in zip(front_us, feet, strict=True)]


def draw_traffic(minutes: int, seed: int = 1) -> list[Passages]:
    """What passes the loops of eight road lanes from noon on, lane by lane, from the moment 0 on.

    The simulated vehicles of a lane do not mind each other. Those closer behind another than 50 ms, at one of two loops
    ``PAIR_FEET`` apart, are left out: a loop would take both for one.
    """
    road = Road(sensors=4, road_lanes=4)
    stop = Micros(_NOON + minutes * MICROS["MINUTE"])
    seen = Traffic(seed, road, incidents_per_hour=0.0).vehicles(range(road.pairs), _NOON, stop)
    lanes = seen.pair * road.road_lanes + seen.road_lane
    passages = Passages(seen.upstream_us - _NOON, seen.upstream_mph * MPH, seen.feet)
    return [_keep_apart(_select(passages, lanes == lane)) for lane in range(road.pairs * road.road_lanes)]


def find_period(sample_hz: float) -> Micros:
    """The sample period of a rate, in whole microseconds."""
    return Micros(round(_SECOND / sample_hz))


def sample_loop(passages: Passages, clock: SampleClock, distance_feet: float = 0.0) -> Bools:
    """Samples of a loop from moment 0 until a second after the last vehicle has left it."""
    covers = passages.cover(distance_feet)
    last_us = int(covers.off_us.max(initial=0)) + _SECOND
    return sample(covers, clock, 0, int(clock.find_first(np.array(last_us))))


def measure(lanes: Sequence[Passages], distance_feet: float, sample_hz: float) -> Measured:
    """Run the vehicle program on both motes of each pair, which sample at different moments, and compare with truth."""
    found = [_measure_lane(lane, distance_feet, sample_hz, seed) for seed, lane in enumerate(lanes)]
    return Measured(*(np.concatenate([getattr(each, name.name) for each in found]) for name in fields(Measured)))


def _measure_lane(passages: Passages, distance_feet: float, sample_hz: float, seed: int) -> Measured:
    period_us = find_period(sample_hz)
    phases = np.random.default_rng(seed).integers(0, period_us, 2)
    upstream, downstream = (
        _run(passages, SampleClock(period_us, Micros(int(phase))), at)
        for phase, at in zip(phases, (0.0, distance_feet), strict=True)
    )
    found = LoopPair(distance_feet).measure(upstream, downstream)
    which = _find_own(passages, upstream, period_us)
    over_s = _take((upstream.off_us - upstream.on_us) / _SECOND, which)
    return Measured(
        _take(found.feet_per_s, which) - passages.feet_per_s,
        _take(found.feet, which) - passages.feet,
        over_s * passages.feet_per_s - passages.feet,
    )


def _run(passages: Passages, clock: SampleClock, distance_feet: float) -> Covers:
    return VehicleProgram(clock).take(sample_loop(passages, clock, distance_feet))


def _find_own(passages: Passages, seen: Covers, period_us: int) -> Float64s:
    """Which of the covers seen is each vehicle's: the one that begins within a period of it; NaN if it was not seen."""
    index = np.searchsorted(seen.on_us, passages.front_us)
    within = np.append(seen.on_us, np.iinfo(np.int64).max)[index] < passages.front_us + period_us
    return np.where(within, index, np.nan)


def _take(values: Float64s, which: Float64s) -> Float64s:
    known = ~np.isnan(which)
    taken = np.full(which.size, np.nan)
    taken[known] = values[which[known].astype(np.int64)]
    return taken


def _select(passages: Passages, mask: Bools) -> Passages:
    order = np.argsort(passages.front_us[mask], kind="stable")
    kept = np.flatnonzero(mask)[order]
    return Passages(passages.front_us[kept], passages.feet_per_s[kept], passages.feet[kept])


def _keep_apart(passages: Passages) -> Passages:
    return _select(passages, _is_apart(passages.cover()) & _is_apart(passages.cover(PAIR_FEET)))


def _is_apart(covers: Covers) -> Bools:
    """Whether a loop has been free for a while when a vehicle comes."""
    free_us = np.concatenate([[-MICROS["DAY"]], np.maximum.accumulate(covers.off_us)])[: covers.on_us.size]
    apart: Bools = covers.on_us >= free_us + _LEAST_GAP_US
    return apart
