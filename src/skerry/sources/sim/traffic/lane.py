"""A lane of a simulated source: the stations of one stretch, in blocks of periods."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from skerry.model.time import Micros
from skerry.sources.sim.traffic.settings import Settings
from skerry.sources.source import Lane

__all__ = ["Blocks", "TrafficLane"]

_UNIT_READINGS = 5_000
_LIVE_UNIT_US = 1_000_000


@dataclass(frozen=True)
class Blocks:
    """How periods are grouped into units, the same for all lanes so that they line up.

    A unit has about 5,000 readings at most, and of a live source a second of the road's time at most, so
    that answers are not held up; but a period at least. It does not depend on how fast the source is
    played: a checkpoint outlives a change of speed.

    >>> Blocks.of(Settings.parse({"duration": "10min"}), stations=8).periods_per_unit
    156
    >>> Blocks.of(Settings.parse({}), stations=8).periods_per_unit
    1
    """

    periods_per_unit: int
    periods: int | None

    @classmethod
    def of(cls, settings: Settings, stations: int) -> "Blocks":
        """Group the periods of lanes with up to so many stations."""
        most = _UNIT_READINGS // (stations * settings.road_lanes)
        if settings.periods is None:
            most = min(most, _LIVE_UNIT_US // settings.period_us)
        return cls(max(1, most), settings.periods)

    @property
    def count(self) -> int | None:
        """How many units there are, None if there is no end to them."""
        return None if self.periods is None else -(-self.periods // self.periods_per_unit)

    def first(self, unit: int) -> int:
        """Number the first period of a unit; of one past the end, the period past the end."""
        period = unit * self.periods_per_unit
        return period if self.periods is None else min(period, self.periods)


class TrafficLane(Lane):
    """Units of one group of stations.

    A bounded lane has all its units from the start. A live one gets a unit when the road's time has
    passed its end: the road's clock starts when the lane is made, with its first unit, or with the one
    given to ``resume_at``. Only ``count`` looks at the clock; what a unit holds never depends on it.
    """

    def __init__(
        self, name: str, blocks: Blocks, settings: Settings, stations: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start the clock of a lane of so many stations; ``clock`` counts seconds."""
        self.name, self.speed = name, settings.speedup
        self._blocks, self._settings = blocks, settings
        self._readings_per_period = stations * settings.road_lanes * (1.0 - settings.missing)
        self._clock, self._started, self._resumed = clock, clock(), 0

    def resume_at(self, unit: int) -> None:
        """Set the clock of a live lane to the moment at which ``unit`` begins: where a restart goes on."""
        self._started, self._resumed = self._clock(), unit

    def count(self) -> int:
        """How many units there are now."""
        if self._blocks.count is not None:
            return self._blocks.count
        passed_us = (self._clock() - self._started) * 1e6 * self._settings.speedup
        return self._resumed + int(passed_us // (self._blocks.periods_per_unit * self._settings.period_us))

    def first(self, unit: int) -> Micros:
        """The time of a unit's first period; with disorder, older readings may be in it."""
        return self._moment(self._blocks.first(unit))

    def last(self, unit: int) -> Micros:
        """The time of a unit's last period."""
        return self._moment(self._blocks.first(unit + 1) - 1)

    def weight(self, unit: int) -> int:
        """About how many readings a unit has."""
        return round((self._blocks.first(unit + 1) - self._blocks.first(unit)) * self._readings_per_period)

    def _moment(self, period: int) -> Micros:
        return Micros(self._settings.start_us + period * self._settings.period_us)
