"""Speed and length from the four times of a pair of loops.

t0   the vehicle begins to cover the upstream loop         speed  = d / (t1 - t0)
t1   it covers both                                        length = speed * (t2 - t0)
t2   it ceases to cover the upstream loop
t3   it covers neither
"""

from dataclasses import dataclass

import numpy as np

from skerry.errors import OptionError
from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS
from skerry.sensors.traffic.loops import Covers

__all__ = ["MPH", "LoopPair", "Vehicles"]

MPH = 5280 / 3600
"""Feet per second that are a mile per hour."""


@dataclass(frozen=True)
class Vehicles:
    """What a pair saw pass: when each began to cover the upstream loop, its speed and its length; NaN is not known."""

    ts_us: Int64s
    feet_per_s: Float64s
    feet: Float64s


@dataclass(frozen=True)
class LoopPair:
    """Two loops in one road lane, less than a vehicle's length apart, so that any vehicle covers both at some time."""

    distance_feet: float

    def __post_init__(self) -> None:
        """Refuse a pair that is one loop."""
        if not self.distance_feet > 0.0:
            raise OptionError(f"the loops of a pair are some distance apart; got {self.distance_feet}")

    def measure(self, upstream: Covers, downstream: Covers) -> Vehicles:
        """Speed and length of each vehicle upstream, if the downstream loop was seen to be covered while it passed.

        Neither is known if the two loops were seen to be covered at one time, or not at once: then the sample period
        is too long for the distance.

        >>> LoopPair(10.0).measure(
        ...     Covers(np.array([0]), np.array([150_000])), Covers(np.array([100_000]), np.array([250_000]))
        ... )
        Vehicles(ts_us=array([0]), feet_per_s=array([100.]), feet=array([15.]))
        """
        between_us = np.full(upstream.on_us.size, np.nan)
        vehicle, cover = _match(upstream, downstream)
        between_us[vehicle] = downstream.on_us[cover] - upstream.on_us[vehicle]
        feet_per_s = self.distance_feet * MICROS["SECOND"] / np.where(between_us > 0, between_us, np.nan)
        over_s = (upstream.off_us - upstream.on_us) / MICROS["SECOND"]
        return Vehicles(upstream.on_us, feet_per_s, feet_per_s * over_s)


def _match(upstream: Covers, downstream: Covers) -> tuple[Int64s, Int64s]:
    """Which vehicle upstream each cover downstream begins in; of several, the first."""
    vehicle = np.searchsorted(upstream.on_us, downstream.on_us, side="right") - 1
    inside = np.flatnonzero(vehicle >= 0)
    inside = inside[downstream.on_us[inside] < upstream.off_us[vehicle[inside]]]
    vehicles, first = np.unique(vehicle[inside], return_index=True)
    return vehicles, inside[first]
