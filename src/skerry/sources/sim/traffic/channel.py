"""The channel: what stations send, line by line, as it arrives.

Between a loop and the reader, lines get lost, come late, or are garbled. Which ones is drawn from the
seed, the time of the sample, the station and the lane, so it is the same however reading is divided.

    tick of arrival      0     1       2     3           with a disorder of 2 ticks
    tick of the sample   0 0   1 1 0   2 2   3 3 2 1
"""

from dataclasses import dataclass, fields

import numpy as np

from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.model.time import Micros
from skerry.sources.sim.stateless_random import keys, uniform
from skerry.sources.sim.traffic.loops import Samples, sample
from skerry.sources.sim.traffic.settings import Settings
from skerry.sources.sim.traffic.vehicles import MOST_LANES, Traffic

__all__ = ["Channel", "Lines"]


@dataclass(frozen=True)
class Lines:
    """Lines in order of arrival, an entry each: where and when they were taken, and what they say."""

    arrival_tick: Int64s
    tick: Int64s
    time_us: Int64s
    station: Int64s
    lane: Int64s
    garbled: Bools
    flow: Int64s
    speed: Float64s
    length: Float64s
    occupancy: Float64s

    def only(self, kept: Bools) -> "Lines":
        """Keep some lines; all of them cost nothing."""
        return self if kept.all() else Lines(*(getattr(self, field.name)[kept] for field in fields(self)))


@dataclass(frozen=True)
class Channel:
    """What comes from some stations, the first of which is an upstream one.

    >>> from skerry.sources.sim.traffic.road import Road
    >>> settings = Settings.parse({"missing": "0", "duration": "1min"})
    >>> Channel(Traffic(1, Road(32, 4), 2.0), settings, range(8)).lines(0, 10).tick.size
    320
    """

    traffic: Traffic
    settings: Settings
    stations: range

    def lines(self, first: int, stop: int) -> Lines:
        """Give the lines that arrive in ticks ``first`` to ``stop``, exclusive."""
        oldest = max(0, first - self.settings.disorder_ticks)
        ticks = np.arange(oldest, stop)
        moments = self.settings.start_us + ticks * self.settings.period_us
        drawn = keys(self.settings.seed, "line", moments, self._places())
        arrival = self._arrival(ticks, uniform(drawn, 1))
        sent = (uniform(drawn, 0) >= self.settings.missing) & (arrival >= first) & (arrival < stop)
        rows = self._in_order(np.flatnonzero(sent), ticks, arrival)
        samples = sample(self.traffic, self.stations, Micros(int(moments[0])), self.settings.period_us, ticks.size)
        garbled = uniform(drawn.ravel()[rows], 2) < self.settings.garbled
        return self._lines(rows, ticks, arrival.ravel()[rows], garbled, samples)

    def _places(self) -> Int64s:
        """Number each loop, the same however long and wide the road is."""
        return (np.array(self.stations)[:, None] * MOST_LANES + np.arange(self.traffic.road.lanes)).ravel()

    def _arrival(self, ticks: Int64s, drawn: Float64s) -> Int64s:
        """Say when lines arrive: most at once, some late; before the end, where there is one."""
        late = ((self.settings.disorder_ticks + 1) * drawn * drawn * drawn).astype(np.int64)
        arrival = ticks[:, None] + late
        return arrival if self.settings.ticks is None else np.minimum(arrival, self.settings.ticks - 1)

    def _in_order(self, rows: Int64s, ticks: Int64s, arrival: Int64s) -> Int64s:
        """Sort lines by the tick of their arrival; late ones come behind those on time."""
        if self.settings.disorder_ticks == 0:
            return rows
        ranks = arrival * (self.settings.disorder_ticks + 2) - ticks[:, None]
        return rows[np.argsort(ranks.ravel()[rows], kind="stable")]

    def _lines(self, rows: Int64s, ticks: Int64s, arrival: Int64s, garbled: Bools, samples: Samples) -> Lines:
        sampled, place = np.divmod(rows, len(self.stations) * self.traffic.road.lanes)
        station, lane = np.divmod(place, self.traffic.road.lanes)
        tick = ticks[sampled]
        return Lines(
            arrival_tick=arrival,
            tick=tick,
            time_us=self.settings.start_us + tick * self.settings.period_us,
            station=station + self.stations.start,
            lane=lane + 1,
            garbled=garbled,
            flow=samples.flow[rows],
            speed=samples.speed[rows],
            length=samples.length[rows],
            occupancy=samples.occupancy[rows],
        )
