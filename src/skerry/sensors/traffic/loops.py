"""What loops in the road sense: vehicles that cover them, sampled at a rate.

vehicle            ┌──────────────┐
covers        ─────┘              └──────────
samples       0    0    1    1    1    0    0     every period_us
                        on             off        what a mote can know: both late by up to a period
"""

from dataclasses import dataclass

import numpy as np

from skerry.errors import OptionError
from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.model.time import MICROS, Micros

__all__ = ["Covers", "Passages", "SampleClock", "sample"]

_AT_ONCE = Micros(0)


@dataclass(frozen=True)
class SampleClock:
    """When a mote samples: sample number n is taken ``phase_us + n * period_us`` after 1970.

    >>> clock = SampleClock(Micros(5_556), phase_us=Micros(100))
    >>> clock.find_first(np.array([100, 101])), clock.read_time(np.array([0, 1]))
    (array([0, 1]), array([ 100, 5656]))
    """

    period_us: Micros
    phase_us: Micros = _AT_ONCE

    def __post_init__(self) -> None:
        """Refuse a clock that stands still."""
        if self.period_us < 1:
            raise OptionError(f"a sample period is one microsecond or more; got {self.period_us}")

    def find_first(self, times_us: Int64s) -> Int64s:
        """Number the first sample at or after each time."""
        numbers: Int64s = -((self.phase_us - times_us) // self.period_us)
        return numbers

    def read_time(self, numbers: Int64s) -> Int64s:
        """When samples are taken."""
        return self.phase_us + numbers * self.period_us


@dataclass(frozen=True)
class Covers:
    """Spans in which something is over a loop, in order: from ``on_us``, and no more at ``off_us``."""

    on_us: Int64s
    off_us: Int64s


@dataclass(frozen=True)
class Passages:
    """Vehicles, an entry each: when the front reaches the upstream loop, how fast and how long they are."""

    front_us: Int64s
    feet_per_s: Float64s
    feet: Float64s

    def cover(self, distance_feet: float = 0.0) -> Covers:
        """When they cover a loop so far downstream, at the speed that they have.

        >>> car = Passages(np.array([0]), np.array([100.0]), np.array([15.0]))
        >>> car.cover(10.0)
        Covers(on_us=array([100000]), off_us=array([250000]))
        """
        on_us = self.front_us + _to_micros(distance_feet / self.feet_per_s)
        off_us = self.front_us + _to_micros((distance_feet + self.feet) / self.feet_per_s)
        return Covers(on_us, off_us)


def sample(covers: Covers, clock: SampleClock, first: int, count: int) -> Bools:
    """Whether a loop is covered at ``count`` samples from number ``first`` on.

    >>> sample(Covers(np.array([15]), np.array([40])), SampleClock(Micros(10)), first=0, count=6).astype(int)
    array([0, 0, 1, 1, 0, 0])
    """
    begin = np.clip(clock.find_first(covers.on_us) - first, 0, count)
    end = np.clip(clock.find_first(covers.off_us) - first, 0, count)
    steps = np.bincount(begin, minlength=count + 1) - np.bincount(end, minlength=count + 1)
    covered: Bools = np.cumsum(steps[:count]) > 0
    return covered


def _to_micros(spans_s: Float64s) -> Int64s:
    return np.round(spans_s * MICROS["SECOND"]).astype(np.int64)
