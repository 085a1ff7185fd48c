"""What a proxy makes of a pair's programs: readings with the columns of a traffic source.

All three say the same of a vehicle, as far as they speak of it at all: the sum of ``flow`` is the same, and so is the
mean of ``speed`` and ``length``, in which NULL does not count.
"""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.sensors.traffic.count_program import Counts
from skerry.sensors.traffic.loops import SampleClock
from skerry.sensors.traffic.pair import MPH, LoopPair, Vehicles
from skerry.sensors.traffic.vehicle_program import VehicleProgram

__all__ = ["PairReadings", "read_counts", "read_samples", "read_vehicles"]


@dataclass(frozen=True)
class PairReadings:
    """Readings of a pair, an entry each: as the columns ``ts``, ``flow``, ``speed`` (mph), ``length``, ``occupancy``.

    NaN is NULL; None is a column that the program does not deliver.
    """

    ts_us: Int64s
    flow: Int64s
    speed: Float64s | None = None
    length: Float64s | None = None
    occupancy: Float64s | None = None


def read_counts(counts: Counts) -> PairReadings:
    """One reading per second."""
    return PairReadings(counts.second_us, counts.vehicles)


def read_vehicles(vehicles: Vehicles) -> PairReadings:
    """One reading per vehicle."""
    return PairReadings(
        vehicles.ts_us, np.ones(vehicles.ts_us.size, np.int64), vehicles.feet_per_s / MPH, vehicles.feet
    )


def read_samples(
    upstream: Bools, downstream: Bools, clocks: tuple[SampleClock, SampleClock], pair: LoopPair
) -> PairReadings:
    """One reading per sample of the upstream loop: the proxy finds the vehicles, by the program that motes would run.

    A vehicle stands at the sample with which it began. Samples are those from number 0 on, of both clocks.
    """
    up_clock, down_clock = clocks
    found = pair.measure(VehicleProgram(up_clock).take(upstream), VehicleProgram(down_clock).take(downstream))
    number = up_clock.find_first(found.ts_us)
    flow, speed, length = np.zeros(upstream.size, np.int64), *np.full((2, upstream.size), np.nan)
    flow[number], speed[number], length[number] = 1, found.feet_per_s / MPH, found.feet
    return PairReadings(up_clock.read_time(np.arange(upstream.size)), flow, speed, length, upstream.astype(np.float64))
