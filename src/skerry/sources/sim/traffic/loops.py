"""The loops: each counts and measures what passes over it in a sample period."""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import Micros
from skerry.sources.sim.traffic.vehicles import FEET_PER_SECOND, LONGEST_TRIP_US, Traffic, Vehicles

__all__ = ["Samples", "sample"]

_LOOP_FEET = 6.0
"""A vehicle is over a loop from its front's first touch to its rear's last: its length and the loop's."""


@dataclass(frozen=True)
class Samples:
    """What loops measured: flat arrays in order of period, station, road lane. Means over no vehicle are NaN."""

    flow: Int64s
    speed: Float64s
    length: Float64s
    occupancy: Float64s


@dataclass(frozen=True)
class _Passages:
    """Vehicles over loops: the number of the sample each falls into, speed and length."""

    sample: Int64s
    mph: Float64s
    feet: Float64s


def sample(traffic: Traffic, stations: range, first_us: Micros, period_us: int, periods: int) -> Samples:
    """Sample stations ``periods`` times from ``first_us`` on; they begin with an upstream one.

    A downstream loop sees vehicles that passed upstream before ``first_us``, so those are drawn too.

    >>> from skerry.sources.sim.traffic.road import Road
    >>> seen = sample(Traffic(1, Road(4, 4), 0.0), range(4), Micros(960_192_000_000_000), 60_000_000, periods=10)
    >>> upstream, downstream = seen.flow.reshape(10, 4, 4)[:, :2].sum(axis=(0, 2)).tolist()
    >>> abs(upstream - downstream) < 20 < upstream
    True
    """
    pairs = range(stations.start // 2, (stations.stop + 1) // 2)
    stop_us = Micros(first_us + periods * period_us)
    vehicles = traffic.vehicles(pairs, Micros(first_us - LONGEST_TRIP_US), stop_us)
    passages = _find_passages(vehicles, stations, traffic.road.road_lanes, first_us, period_us, periods)
    return _measure(passages, period_us, periods * len(stations) * traffic.road.road_lanes)


def _find_passages(
    vehicles: Vehicles, stations: range, road_lanes: int, first_us: Micros, period_us: int, periods: int
) -> _Passages:
    """Tell each vehicle's two passages apart, and leave out those beyond the periods and the stations."""
    station = np.concatenate([2 * vehicles.pair, 2 * vehicles.pair + 1]) - stations.start
    period = (np.concatenate([vehicles.upstream_us, vehicles.downstream_us]) - first_us) // period_us
    seen = (period >= 0) & (period < periods) & (station < len(stations))
    number = (period * len(stations) + station) * road_lanes + np.tile(vehicles.road_lane, 2)
    mph = np.concatenate([vehicles.upstream_mph, vehicles.downstream_mph])
    return _Passages(number[seen], mph[seen], np.tile(vehicles.feet, 2)[seen])


def _measure(passages: _Passages, period_us: int, size: int) -> Samples:
    """Count and average. Each sample adds up its vehicles in one order, however many samples are taken at once."""
    flow = np.bincount(passages.sample, minlength=size)
    counted = np.where(flow > 0, flow, np.nan)
    over_us = (passages.feet + _LOOP_FEET) / (passages.mph * FEET_PER_SECOND) * 1e6
    occupied: Float64s = np.bincount(passages.sample, over_us, size) / period_us
    return Samples(
        flow=flow,
        speed=np.round(np.bincount(passages.sample, passages.mph, size) / counted, 1),
        length=np.round(np.bincount(passages.sample, passages.feet, size) / counted, 1),
        occupancy=np.minimum(occupied, 1.0).round(4),
    )
