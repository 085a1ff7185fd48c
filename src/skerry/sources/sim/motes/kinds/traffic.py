"""Traffic loops in a road lane of Interstate 80: the vehicles are those of the simulated source of the same seed.

A mote is one road lane of one pair of stations (``sources.sim.traffic.road``). Its programs are those of the paper:
what it measured in each sample period, a reading per vehicle, and a count per second.

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, section 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import Micros, seconds
from skerry.sensors.program import Program
from skerry.sensors.traffic.programs import COUNTS, RAW, VEHICLES
from skerry.sources.sim.motes.kinds.kind import Measured, list_periods
from skerry.sources.sim.traffic.road import POSITIONS, SIDES, Road
from skerry.sources.sim.traffic.vehicles import FEET_PER_SECOND, Traffic

__all__ = ["TRAFFIC"]

_ROAD_LANES = 4
_LOOP_FEET = 6.0
_LONGEST_US = seconds(10)
"""No vehicle is over a loop for longer: 72 feet at 8 miles an hour are 7 s."""
_STATION = ("segment", "side", "position", "lane", "latitude", "longitude")


@dataclass(frozen=True)
class _Passages:
    """Vehicles of one road lane, by the time at which they reach the loop."""

    time_us: Int64s
    over_us: Float64s
    mph: Float64s
    feet: Float64s


@dataclass(frozen=True)
class TrafficKind:
    """Loops: raw samples, vehicles, or counts."""

    name: str = "traffic"
    units: Mapping[str, str] = field(default_factory=lambda: {"speed": "mph", "length": "ft", "occupancy": "1"})
    programs: tuple[Program, ...] = (RAW, VEHICLES, COUNTS)
    sample_period_us: Micros = field(default_factory=lambda: seconds(1))

    def locate(self, seed: int, index: int) -> tuple[float, float]:
        """Motes stand along the road, four in a row across it."""
        return _locate(index // _ROAD_LANES)

    def measure(
        self, seed: int, index: int, program: str, first_us: Micros, stop_us: Micros, period_us: Micros
    ) -> Measured:
        """Run a program. The reading of a period has the time at which it begins, and is ready at its end."""
        if program == "vehicles":
            return self._report_vehicles(seed, index, first_us, stop_us)
        counts_us = Micros(max(seconds(1), period_us)) if program == "counts" else period_us
        starts_us = list_periods(first_us, stop_us, counts_us) - counts_us
        found = _sum_up(_passages(seed, index, first_us - counts_us, stop_us), starts_us, counts_us)
        measured = {"flow": found["flow"]} if program == "counts" else found
        return Measured(starts_us, starts_us + counts_us, _station(index, starts_us.size) | measured)

    def _report_vehicles(self, seed: int, index: int, first_us: Micros, stop_us: Micros) -> Measured:
        """A vehicle is known once it has left the loop."""
        seen = _passages(seed, index, first_us, stop_us)
        left_us = seen.time_us + seen.over_us.astype(np.int64)
        # By the time they left: a reading of a later vehicle that is shorter may be ready before.
        order = np.argsort(left_us, kind="stable")
        order = order[(left_us[order] >= first_us) & (left_us[order] < stop_us)]
        columns = {"flow": np.ones(order.size, np.int64), "speed": seen.mph[order], "length": seen.feet[order]}
        return Measured(seen.time_us[order], left_us[order], _station(index, order.size) | columns)


def _passages(seed: int, index: int, first_us: int, stop_us: int) -> _Passages:
    """The vehicles that may be over the loop between two times."""
    pair, road_lane = divmod(index, _ROAD_LANES)
    # Without incidents: those are drawn for a road of a length, and what a mote sees must not hang on others.
    traffic = Traffic(seed, Road(2 * pair + 2, _ROAD_LANES), 0.0)
    drawn = traffic.vehicles(range(pair, pair + 1), Micros(first_us - _LONGEST_US), Micros(stop_us))
    own = np.nonzero(drawn.road_lane == road_lane)[0]
    own = own[np.argsort(drawn.upstream_us[own], kind="stable")]
    mph, feet = drawn.upstream_mph[own], drawn.feet[own]
    over_us: Float64s = (feet + _LOOP_FEET) / (mph * FEET_PER_SECOND) * 1e6
    return _Passages(drawn.upstream_us[own], over_us, mph.round(1), feet.round(1))


def _sum_up(seen: _Passages, starts_us: Int64s, period_us: Micros) -> dict[str, Int64s | Float64s]:
    """Count the vehicles that reach the loop in each period, average them, and say for how much of it one is there."""
    first_us = int(starts_us[0]) if starts_us.size else 0
    period = (seen.time_us - first_us) // period_us
    inside = (period >= 0) & (period < starts_us.size)
    flow = np.bincount(period[inside], minlength=starts_us.size)
    counted = np.where(flow > 0, flow, np.nan)
    means = [
        (np.bincount(period[inside], each[inside], starts_us.size) / counted).round(1) for each in (seen.mph, seen.feet)
    ]
    return {"flow": flow, "speed": means[0], "length": means[1], "occupancy": _occupy(seen, starts_us, period_us)}


def _occupy(seen: _Passages, starts_us: Int64s, period_us: Micros) -> Float64s:
    """The share of each period in which a vehicle is over the loop: one may be there for many short periods."""
    edges_us = np.append(starts_us, starts_us[-1:] + period_us)
    over_us = np.clip(edges_us[:, None] - seen.time_us[None, :], 0, seen.over_us[None, :]).sum(axis=1)
    share: Float64s = np.diff(over_us) / period_us
    return np.minimum(share, 1.0).round(4)


def _station(index: int, size: int) -> dict[str, NDArray[Any]]:
    """Where the loop is, in each reading."""
    pair, road_lane = divmod(index, _ROAD_LANES)
    latitude, longitude = _locate(pair)
    known = (pair // 2 + 1, SIDES[pair % 2], POSITIONS[0], road_lane + 1, latitude, longitude)
    return {name: np.full(size, value) for name, value in zip(_STATION, known, strict=True)}


@cache
def _locate(pair: int) -> tuple[float, float]:
    road = Road(2 * pair + 1, _ROAD_LANES)
    return float(road.latitudes[-1]), float(road.longitudes[-1])


TRAFFIC = TrafficKind()
