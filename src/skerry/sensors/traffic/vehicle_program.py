"""The program of Figure 10(b): a mote that says when each vehicle began and ceased to cover its loop."""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Bools
from skerry.sensors.traffic.loops import Covers, SampleClock

__all__ = ["VehicleProgram"]


@dataclass
class VehicleProgram:
    """Finds vehicles in samples, however many are taken at once.

    Its state is the number of the next sample, and of the one with which a vehicle began that is still there. What
    covers the loop at the first sample of all counts as beginning then. Two vehicles without an uncovered sample
    between them are one.

    >>> from skerry.model.time import Micros
    >>> program = VehicleProgram(SampleClock(Micros(10)))
    >>> program.take(np.array([False, True, True])).on_us
    array([], dtype=int64)
    >>> program.take(np.array([True, False]))
    Covers(on_us=array([10]), off_us=array([40]))
    """

    clock: SampleClock
    next_sample: int = 0
    began_at: int | None = None

    def take(self, samples: Bools) -> Covers:
        """Take the next samples; give the vehicles that ended with them."""
        before = np.concatenate([[self.began_at is not None], samples[:-1]])
        began = np.flatnonzero(samples & ~before) + self.next_sample
        ended = np.flatnonzero(~samples & before) + self.next_sample
        if self.began_at is not None:
            began = np.concatenate([[self.began_at], began])
        self.next_sample += samples.size
        self.began_at = int(began[-1]) if began.size > ended.size else None
        return Covers(self.clock.read_time(began[: ended.size]), self.clock.read_time(ended))
