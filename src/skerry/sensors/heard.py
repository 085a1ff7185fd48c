"""Who was heard: of each sensor when last, how many readings, and how many of what was wrong with them."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Bools, Int32s, Int64s
from skerry.model.time import Micros
from skerry.sensors.sequences import Sequences

__all__ = ["Arrivals", "Heard", "HeardSensors"]

_MOST_SENSORS = 100_000
"""Names come from outside: what has more of them than a file of sensors may have is not counted one by one."""


@dataclass(frozen=True)
class Heard:
    """What was heard of one sensor, since it was asked last.

    ``gaps`` may be less than zero: readings that come late close gaps that were counted before.
    """

    last_us: Micros
    readings: int = 0
    duplicates: int = 0
    garbled: int = 0
    gaps: int = 0


@dataclass(frozen=True)
class Arrivals:
    """What came, in the order in which it did.

    ``names`` are the sensors, None one that is not known; ``sensors`` are indexes in them, -1 for nobody.
    ``is_numbered`` says which have a sequence number.
    """

    names: Sequence[str | None]
    sensors: "Int32s | Int64s"
    arrived_us: Int64s
    is_garbled: Bools
    is_double: Bools
    numbers: Int64s
    is_numbered: Bools


class HeardSensors:
    """Counts of all sensors of a source. One thread notes what comes, another may take the counts.

    >>> heard = HeardSensors()
    >>> no, yes = np.zeros(3, bool), np.ones(3, bool)
    >>> heard.note(Arrivals(["a", "b"], np.array([0, 1, 0]), np.array([5, 6, 7]), no, no, np.array([1, 1, 4]), yes))
    >>> heard.take()["a"]
    Heard(last_us=7, readings=2, duplicates=0, garbled=0, gaps=1)
    >>> heard.take()
    {}
    """

    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._sequences = Sequences()
        self._counts: Int64s = np.zeros((4, 0), np.int64)
        self._last_us: Int64s = np.zeros(0, np.int64)
        self._lock = threading.Lock()

    def note(self, arrivals: Arrivals) -> None:
        """Count what came."""
        sensors = self._intern(arrivals.names)[arrivals.sensors]
        is_reading = ~(arrivals.is_garbled | arrivals.is_double) & (sensors >= 0)
        changed = self._follow(arrivals, sensors, is_reading)
        marks = (is_reading, arrivals.is_double & ~arrivals.is_garbled, arrivals.is_garbled)
        with self._lock:
            self._grow()
            is_known = sensors >= 0
            np.maximum.at(self._last_us, sensors[is_known], arrivals.arrived_us[is_known])
            for row, mark in enumerate(marks):
                self._counts[row] += np.bincount(sensors[mark & is_known], minlength=self._last_us.size)
            for sensor, change in changed.items():
                self._counts[3, sensor] += change

    def recall(self, arrivals: Arrivals) -> None:
        """Know the sequence numbers of what was counted before."""
        sensors = self._intern(arrivals.names)[arrivals.sensors]
        self._follow(arrivals, sensors, ~(arrivals.is_garbled | arrivals.is_double) & (sensors >= 0))

    def take(self) -> dict[str, Heard]:
        """What was heard since this was asked last, by the names of the sensors."""
        with self._lock:
            names = list(self._names)
            found = {
                names[each]: Heard(Micros(int(self._last_us[each])), *self._counts[:, each].tolist())
                for each in np.flatnonzero(self._last_us)
            }
            self._counts[:], self._last_us[:] = 0, 0
        return found

    def _follow(self, arrivals: Arrivals, sensors: Int64s, is_reading: Bools) -> Mapping[int, int]:
        chosen = is_reading & arrivals.is_numbered
        return self._sequences.follow(sensors[chosen], arrivals.numbers[chosen])

    def _intern(self, names: Sequence[str | None]) -> Int64s:
        """The index of each name, and -1 behind the last: that of nobody."""
        known = self._names
        for name in names:
            if name is not None and len(known) < _MOST_SENSORS:
                known.setdefault(name, len(known))
        return np.array([-1 if name is None else known.get(name, -1) for name in (*names, None)], np.int64)

    def _grow(self) -> None:
        room = len(self._names) - self._last_us.size
        if room > 0:
            self._counts, self._last_us = np.pad(self._counts, ((0, 0), (0, room))), np.pad(self._last_us, (0, room))
