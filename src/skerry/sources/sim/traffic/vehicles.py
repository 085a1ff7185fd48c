"""The traffic: vehicles that pass the upstream station of a pair and, a little later, the downstream one.

Time is cut into slots of a second, and each slot of each road lane holds at most one vehicle. Whether it
does, and how long and fast the vehicle is, is drawn from the seed, the slot and the road lane alone; how
likely it is and how fast vehicles go on the whole follow from the time of day, the side, and
incidents. So traffic at any moment can be had without that of the moments before, and two sources
with one seed see the same vehicles however they sample them.

The clock of the road is the event time as it is written: a rush hour at 8:00 is at 8:00 UTC.
"""

from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, Micros
from skerry.sources.sim.stateless_random import Keys, draw_bell, draw_uniform, make_keys
from skerry.sources.sim.traffic.incidents import Incident, draw_incidents
from skerry.sources.sim.traffic.road import GAP_FEET, Road

__all__ = ["FEET_PER_SECOND", "LONGEST_TRIP_US", "MOST_ROAD_LANES", "SLOT_US", "Traffic", "Vehicles"]

SLOT_US = MICROS["SECOND"]
MOST_ROAD_LANES = 16
FEET_PER_SECOND = 5280 / 3600
"""One mile an hour."""

_SLOWEST_MPH = 8.0
_FREE_MPH = 66.0
LONGEST_TRIP_US = int(GAP_FEET / (_SLOWEST_MPH * FEET_PER_SECOND) * 1e6) + 1
"""The longest that a vehicle takes from a station to its downstream twin."""

# The day, by hour. West is towards the Bay Bridge: mornings are slow there, evenings on the way back.
_HOURS = (0.0, 5.0, 6.5, 8.0, 9.5, 11.0, 15.0, 17.5, 19.0, 21.0, 24.0)
_VEHICLES_PER_HOUR = (150, 250, 1100, 1750, 1500, 1200, 1500, 1800, 1300, 700, 150)
_SLOWNESS = (
    (0.0, 0.0, 0.05, 0.20, 0.10, 0.08, 0.25, 0.65, 0.30, 0.05, 0.0),  # east
    (0.0, 0.0, 0.15, 0.65, 0.35, 0.10, 0.12, 0.25, 0.10, 0.05, 0.0),  # west
)
_WEEKEND_DEMAND, _WEEKEND_SLOWNESS = 0.75, 0.3
_THURSDAY = 3  # the first day of the epoch, counted from Monday


@dataclass(frozen=True)
class Vehicles:
    """Vehicles, an entry each: which pair and road lane, when they pass, how fast, how long."""

    pair: Int64s
    road_lane: Int64s
    upstream_us: Int64s
    downstream_us: Int64s
    upstream_mph: Float64s
    downstream_mph: Float64s
    feet: Float64s


@dataclass(frozen=True)
class _Conditions:
    """What holds in a slot (row) at a pair (column): vehicles per slot and road lane, and their usual speeds."""

    demand: Float64s
    upstream_mph: Float64s
    downstream_mph: Float64s


@dataclass(frozen=True)
class Traffic:
    """All that drives on a road; ``incidents_per_hour`` is for the whole of it.

    >>> morning = Micros(960_184_800_000_000)
    >>> seen = Traffic(1, Road(32, 4), 2.0).vehicles(range(16), morning, Micros(morning + 60_000_000))
    >>> bool((seen.downstream_us > seen.upstream_us).all())
    True
    """

    seed: int
    road: Road
    incidents_per_hour: float

    def incidents(self, first_us: Micros, stop_us: Micros) -> list[Incident]:
        """List the incidents that are under way at some time from ``first_us`` until ``stop_us``."""
        return draw_incidents(self.seed, self.incidents_per_hour, self.road, first_us, stop_us)

    def vehicles(self, pairs: range, first_us: Micros, stop_us: Micros) -> Vehicles:
        """Draw the vehicles of the slots that touch a span of time, in order of slot, pair and road lane."""
        slots = np.arange(first_us // SLOT_US, -(-stop_us // SLOT_US))
        conditions = self._conditions(slots, pairs)
        drawn = make_keys(self.seed, "vehicle", slots, self._number_road_lanes(pairs))
        weights = np.linspace(1.05, 0.95, self.road.road_lanes) if self.road.road_lanes > 1 else np.ones(1)
        chance = (conditions.demand[:, :, None] * weights).reshape(drawn.shape)
        slot, column = np.nonzero(draw_uniform(drawn, 0) < chance)
        return self._drive(drawn[slot, column], slots[slot] * SLOT_US, slot, column, conditions, pairs)

    def _number_road_lanes(self, pairs: range) -> Int64s:
        """Number each road lane of each pair, the same however long and wide the road is."""
        return (np.array(pairs)[:, None] * MOST_ROAD_LANES + np.arange(self.road.road_lanes)).ravel()

    def _drive(
        self, drawn: Keys, slot_us: Int64s, slot: Int64s, column: Int64s, conditions: _Conditions, pairs: range
    ) -> Vehicles:
        """Give vehicles their length and pace, and see when they pass. Lane 1 is the fast one, trucks keep right."""
        pair_column, road_lane = np.divmod(column, self.road.road_lanes)
        right = (road_lane + 0.5) / self.road.road_lanes
        truck = draw_uniform(drawn, 2) < 0.2 * right
        feet = np.where(truck, 48.0, 15.0) + np.where(truck, 8.0, 1.2) * draw_bell(drawn, 3)
        pace = (1.0 + 0.08 * draw_bell(drawn, 4)) * (1.06 - 0.12 * right) * np.where(truck, 0.93, 1.0)
        upstream_mph = np.maximum(conditions.upstream_mph[slot, pair_column] * pace, _SLOWEST_MPH)
        downstream_mph = np.maximum(conditions.downstream_mph[slot, pair_column] * pace, _SLOWEST_MPH)
        upstream_us = slot_us + (draw_uniform(drawn, 1) * SLOT_US).astype(np.int64)
        trip_us = (GAP_FEET / (upstream_mph * FEET_PER_SECOND) * 1e6).astype(np.int64)
        pair = pair_column + pairs.start
        return Vehicles(pair, road_lane, upstream_us, upstream_us + trip_us, upstream_mph, downstream_mph, feet)

    def _conditions(self, slots: Int64s, pairs: range) -> _Conditions:
        """Put together time of day, weekday, segment, slow waves and incidents."""
        day, within = np.divmod(slots * SLOT_US, MICROS["DAY"])
        hour, weekend = within / MICROS["HOUR"], (day + _THURSDAY) % 7 >= 5
        demand = np.interp(hour, _HOURS, _VEHICLES_PER_HOUR) / 3600 * np.where(weekend, _WEEKEND_DEMAND, 1.0)
        relief = np.where(weekend, _WEEKEND_SLOWNESS, 1.0)
        slowness = np.stack([np.interp(hour, _HOURS, side) * relief for side in _SLOWNESS], axis=1)
        rush = slowness[:, np.array(pairs) % 2] * self._roughness(pairs)
        speed = _FREE_MPH * (1.0 - rush) * self._waves(slots, pairs)
        harm = self._harm(slots, pairs)
        return _Conditions(demand[:, None] * (1.0 - 0.5 * harm), speed * (1.0 - harm), speed * (1.0 - 0.5 * harm))

    def _roughness(self, pairs: range) -> Float64s:
        """How much a pair takes part in a rush hour: some stretches are worse than others, always."""
        return 0.7 + 0.3 * draw_uniform(make_keys(self.seed, "roughness", np.zeros(1, np.int64), np.array(pairs))[0], 0)

    def _waves(self, slots: Int64s, pairs: range) -> Float64s:
        """Let the speed of a pair sway by a few per cent from minute to minute."""
        minute, second = np.divmod(slots, 60)
        knots = np.arange(minute[0], minute[-1] + 2)
        sway = draw_bell(make_keys(self.seed, "wave", knots, np.array(pairs)), 0)
        row, part = minute - minute[0], (second / 60)[:, None]
        swayed: Float64s = sway[row] * (1.0 - part) + sway[row + 1] * part
        return 1.0 + 0.04 * swayed

    def _harm(self, slots: Int64s, pairs: range) -> Float64s:
        """Say how severe the worst incident under way is."""
        harm = np.zeros((slots.size, len(pairs)))
        for incident in self.incidents(Micros(int(slots[0]) * SLOT_US), Micros(int(slots[-1] + 1) * SLOT_US)):
            pair = self.road.pair_of(incident.segment, incident.side)
            if pair in pairs:
                column = harm[:, pair - pairs.start]
                np.maximum(column, incident.effect(slots * SLOT_US), out=column)
        return harm
