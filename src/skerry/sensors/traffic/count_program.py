"""The program of Figure 10(c): a mote that says how many vehicles came in each second."""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Bools, Int64s
from skerry.model.time import MICROS
from skerry.sensors.traffic.loops import SampleClock

__all__ = ["CountProgram", "Counts"]

_SECOND = MICROS["SECOND"]


@dataclass(frozen=True)
class Counts:
    """Seconds, by their beginning, and the vehicles that began to cover the loop in each."""

    second_us: Int64s
    vehicles: Int64s


@dataclass
class CountProgram:
    """Counts the vehicles of each second, however many samples are taken at once.

    A second is given with the first sample after it, the last one with ``finish``. Seconds without a sample, where a
    period is longer than that, are left out: nobody was there to count.

    >>> from skerry.model.time import Micros
    >>> program = CountProgram(SampleClock(Micros(400_000)))
    >>> program.take(np.array([True, False, True, True, False]))
    Counts(second_us=array([0]), vehicles=array([2]))
    >>> program.finish()
    Counts(second_us=array([1000000]), vehicles=array([0]))
    """

    clock: SampleClock
    next_sample: int = 0
    was_covered: bool = False
    second: int | None = None
    counted: int = 0

    def take(self, samples: Bools) -> Counts:
        """Take the next samples; give the seconds that are over."""
        if not samples.size:
            return _count(np.empty(0, np.int64), np.empty(0, np.int64))
        began = samples & ~np.concatenate([[self.was_covered], samples[:-1]])
        seconds = self.clock.read_time(np.arange(self.next_sample, self.next_sample + samples.size)) // _SECOND
        if self.second is not None:
            seconds, began = np.append(self.second, seconds), np.append(self.counted, began)
        counts = _count(seconds, began.astype(np.int64))
        self.next_sample, self.was_covered = self.next_sample + samples.size, bool(samples[-1])
        self.second, self.counted = int(counts.second_us[-1]) // _SECOND, int(counts.vehicles[-1])
        return Counts(counts.second_us[:-1], counts.vehicles[:-1])

    def finish(self) -> Counts:
        """Give the second that has begun, if any, and begin anew."""
        rest = [] if self.second is None else [self.second]
        given = Counts(np.array(rest, np.int64) * _SECOND, np.array([self.counted] * len(rest), np.int64))
        self.second, self.counted = None, 0
        return given


def _count(seconds: Int64s, began: Int64s) -> Counts:
    """Add up by second; seconds are in order."""
    starts = np.flatnonzero(np.diff(seconds, prepend=seconds[:1] - 1))
    vehicles = np.add.reduceat(began, starts) if starts.size else began
    return Counts(seconds[starts] * _SECOND, vehicles)
