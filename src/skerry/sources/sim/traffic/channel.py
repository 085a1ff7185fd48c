"""The channel: what stations send, line by line, as it arrives.

Between a loop and the reader, lines get lost, come late, or are garbled. Which ones is drawn from the
seed, the time of the sample, the station and the road lane, so it is the same however reading is divided.

    period of arrival      0     1       2     3         with a disorder of 2 periods
    period of the sample   0 0   1 1 0   2 2   3 3 2 1
"""

from dataclasses import dataclass, fields

import numpy as np

from skerry.model.arrays import Bools, Float64s, Int64s
from skerry.model.time import Micros
from skerry.sources.sim.stateless_random import draw_uniform, make_keys
from skerry.sources.sim.traffic.loops import Samples, sample
from skerry.sources.sim.traffic.settings import Settings
from skerry.sources.sim.traffic.vehicles import MOST_ROAD_LANES, Traffic

__all__ = ["Channel", "Lines"]


@dataclass(frozen=True)
class Lines:
    """Lines in order of arrival, an entry each: where and when they were taken, and what they say."""

    arrival_period: Int64s
    period: Int64s
    time_us: Int64s
    station: Int64s
    road_lane: Int64s
    garbled: Bools
    flow: Int64s
    speed: Float64s
    length: Float64s
    occupancy: Float64s

    def keep(self, kept: Bools) -> "Lines":
        """Keep some lines; all of them cost nothing."""
        return self if kept.all() else Lines(*(getattr(self, field.name)[kept] for field in fields(self)))


@dataclass(frozen=True)
class Channel:
    """What comes from some stations, the first of which is an upstream one.

    >>> from skerry.sources.sim.traffic.road import Road
    >>> settings = Settings.parse({"missing": "0", "duration": "1min"})
    >>> Channel(Traffic(1, Road(32, 4), 2.0), settings, range(8)).lines(0, 10).period.size
    320
    """

    traffic: Traffic
    settings: Settings
    stations: range

    def lines(self, first: int, stop: int) -> Lines:
        """Give the lines that arrive in periods ``first`` to ``stop``, exclusive."""
        oldest = max(0, first - self.settings.disorder_periods)
        periods = np.arange(oldest, stop)
        moments = self.settings.start_us + periods * self.settings.period_us
        drawn = make_keys(self.settings.seed, "line", moments, self._number_loops())
        arrival = self._arrival(periods, draw_uniform(drawn, 1))
        sent = (draw_uniform(drawn, 0) >= self.settings.missing) & (arrival >= first) & (arrival < stop)
        rows = self._in_order(np.flatnonzero(sent), periods, arrival)
        samples = sample(self.traffic, self.stations, Micros(int(moments[0])), self.settings.period_us, periods.size)
        garbled = draw_uniform(drawn.ravel()[rows], 2) < self.settings.garbled
        return self._lines(rows, periods, arrival.ravel()[rows], garbled, samples)

    def _number_loops(self) -> Int64s:
        """Number each loop, the same however long and wide the road is."""
        return (np.array(self.stations)[:, None] * MOST_ROAD_LANES + np.arange(self.traffic.road.road_lanes)).ravel()

    def _arrival(self, periods: Int64s, drawn: Float64s) -> Int64s:
        """Say when lines arrive: most at once, some late; before the end, where there is one."""
        late = ((self.settings.disorder_periods + 1) * drawn * drawn * drawn).astype(np.int64)
        arrival = periods[:, None] + late
        return arrival if self.settings.periods is None else np.minimum(arrival, self.settings.periods - 1)

    def _in_order(self, rows: Int64s, periods: Int64s, arrival: Int64s) -> Int64s:
        """Sort lines by the period of their arrival; late ones come behind those on time."""
        if self.settings.disorder_periods == 0:
            return rows
        ranks = arrival * (self.settings.disorder_periods + 2) - periods[:, None]
        return rows[np.argsort(ranks.ravel()[rows], kind="stable")]

    def _lines(self, rows: Int64s, periods: Int64s, arrival: Int64s, garbled: Bools, samples: Samples) -> Lines:
        sampled, loop = np.divmod(rows, len(self.stations) * self.traffic.road.road_lanes)
        station, road_lane = np.divmod(loop, self.traffic.road.road_lanes)
        period = periods[sampled]
        return Lines(
            arrival_period=arrival,
            period=period,
            time_us=self.settings.start_us + period * self.settings.period_us,
            station=station + self.stations.start,
            road_lane=road_lane + 1,
            garbled=garbled,
            flow=samples.flow[rows],
            speed=samples.speed[rows],
            length=samples.length[rows],
            occupancy=samples.occupancy[rows],
        )
