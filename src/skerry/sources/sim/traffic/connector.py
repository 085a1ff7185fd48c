"""Simulated traffic as a source: what a split reads, and how stations are divided into lanes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from skerry.catalog import Sensor, Source
from skerry.errors import SourceError
from skerry.model.options import Option
from skerry.model.time import Micros
from skerry.sensors.traffic.programs import PROGRAMS
from skerry.sources.sim.traffic.channel import Channel, Lines
from skerry.sources.sim.traffic.columns import check_columns, decode
from skerry.sources.sim.traffic.incidents import Incident
from skerry.sources.sim.traffic.lane import Blocks, TrafficLane
from skerry.sources.sim.traffic.road import POSITIONS, SIDES, Road
from skerry.sources.sim.traffic.settings import TRAFFIC_OPTIONS, Settings
from skerry.sources.sim.traffic.vehicles import SLOT_US, Traffic
from skerry.sources.source import Connector, Decoded, Split

__all__ = ["TrafficConnector"]

_BATCH_READINGS = 200_000
_BATCH_SLOTS = 4_000_000
_PROGRAMS = tuple(program.name for program in PROGRAMS)
"""How many slots for a vehicle are drawn at a time: with long sample periods they are more than the readings."""


@dataclass(frozen=True)
class TrafficConnector(Connector):
    """Loops in the road, simulated. What they report depends on the options alone, never on how it is read.

    The stations are spread over ``groups`` lanes that can be read side by side.

    >>> import pyarrow as pa
    >>> schema = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("us"), "speed": pa.float64()})
    >>> road = TrafficConnector.open(Source("traffic", schema, "sim", {"duration": "1min", "missing": "0"}))
    >>> [(lane.name, lane.count()) for lane in road.lanes()]
    [('traffic-0', 1), ('traffic-1', 1), ('traffic-2', 1), ('traffic-3', 1)]
    >>> [decoded] = road.read(Split("traffic", "traffic-0", 0, 1))
    >>> decoded.readings.num_rows + decoded.rejects.num_rows
    1920
    """

    OPTIONS: ClassVar[tuple[Option, ...]] = TRAFFIC_OPTIONS

    definition: Source
    settings: Settings
    live: bool
    groups: int = 4

    @classmethod
    def open(cls, definition: Source, base: Path = Path()) -> "TrafficConnector":
        """Check the options and the columns of a source, which reads no file below ``base``."""
        settings = Settings.parse(definition.options)
        check_columns(definition)
        return cls(definition, settings, live=settings.periods is None)

    def lanes(self) -> Sequence[TrafficLane]:
        """Make the lanes; a live one's clock starts now."""
        return [
            TrafficLane(f"traffic-{group}", self._blocks(), self.settings, len(stations))
            for group, stations in enumerate(self._divide_stations())
        ]

    def read(self, split: Split) -> Iterator[Decoded]:
        """Decode a split, as many units at a time as make a good batch."""
        stations, blocks = self._find_stations(split.lane), self._blocks()
        channel, step = Channel(self._traffic(), self.settings, stations), self._units_per_batch(stations)
        for unit in range(split.start, split.stop, step):
            lines = channel.lines(blocks.first(unit), blocks.first(min(unit + step, split.stop)))
            yield decode(lines.keep(_mark_inside(split, lines, blocks)), self._road(), self.definition.schema)

    def sensors(self) -> Sequence[Sensor]:
        """List the stations."""
        road, source = self._road(), self.definition.name
        where = zip(road.latitudes.tolist(), road.longitudes.tolist(), strict=True)
        stations = zip(road.names, where, road.sides, road.positions, strict=True)
        return [
            Sensor(name, source, "loop", *point, ("i80", SIDES[side], POSITIONS[position]), programs=_PROGRAMS)
            for name, point, side, position in stations
        ]

    def incidents(self, first_us: Micros, stop_us: Micros) -> list[Incident]:
        """List what happens on the road, as a highway patrol would report it."""
        return self._traffic().incidents(first_us, stop_us)

    def _road(self) -> Road:
        return _lay_road(self.settings.sensors, self.settings.road_lanes)

    def _traffic(self) -> Traffic:
        return Traffic(self.settings.seed, self._road(), self.settings.incidents_per_hour)

    def _divide_stations(self) -> list[range]:
        """Divide the stations into groups, never a pair in two."""
        pairs = self._road().pairs
        groups = min(self.groups, pairs)
        bounds = [min(2 * (pairs * group // groups), self.settings.sensors) for group in range(groups + 1)]
        return [range(first, stop) for first, stop in pairwise(bounds)]

    def _find_stations(self, lane: str) -> range:
        groups = {f"traffic-{group}": stations for group, stations in enumerate(self._divide_stations())}
        if lane not in groups:
            raise SourceError(f"unknown lane {lane!r} of {self.definition.name}; it has {', '.join(groups)}")
        return groups[lane]

    def _blocks(self) -> Blocks:
        return Blocks.of(self.settings, max(len(stations) for stations in self._divide_stations()))

    def _units_per_batch(self, stations: range) -> int:
        readings = self._blocks().periods_per_unit * len(stations) * self.settings.road_lanes
        slots = readings * max(1, self.settings.period_us // SLOT_US) // 2
        return max(1, min(_BATCH_READINGS // readings, _BATCH_SLOTS // max(1, slots)))


@lru_cache(maxsize=8)
def _lay_road(sensors: int, road_lanes: int) -> Road:
    """Keep a road with its names and coordinates: a long one takes a while to lay."""
    return Road(sensors, road_lanes)


def _mark_inside(split: Split, lines: Lines, blocks: Blocks) -> NDArray[np.bool_]:
    """Tell the lines that lie between the two cuts of a split."""
    inside = np.ones(lines.period.size, np.bool_)
    if split.after is not None:
        unit = lines.arrival_period < blocks.first(split.start + 1)
        inside[unit] &= np.maximum.accumulate(lines.time_us[unit]) > split.after
    if split.until is not None:
        unit = lines.arrival_period >= blocks.first(split.stop - 1)
        inside[unit] &= np.maximum.accumulate(lines.time_us[unit]) <= split.until
    return inside
