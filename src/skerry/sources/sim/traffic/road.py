"""The road: Interstate 80 near Berkeley, and the loops in it.

    segment    1              2              3       ...       Powell Street, Emeryville, northward
    east    ── u ── d ──── u ── d ──── u ── d ──►              u upstream, d downstream
    west    ◄── d ── u ──── d ── u ──── d ── u ──

Each segment has a pair of stations on either side: traffic passes the upstream one first and the
downstream one, 200 feet on, a few seconds later. Eight segments have the 32 stations of the Berkeley
Highway Lab; a longer road goes on eastward with more of the same. A station has a loop in each road lane.

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, section 2.2.1.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skerry.model.arrays import Float64s, Int64s

__all__ = ["GAP_FEET", "POSITIONS", "SIDES", "Road"]

GAP_FEET = 200.0
"""How far a downstream station lies behind its upstream twin."""

SIDES = ("east", "west")
POSITIONS = ("upstream", "downstream")

_SURVEYED = (  # latitude, longitude of the middle of each of the eight segments
    (37.8398, -122.2972),  # Powell Street
    (37.8465, -122.2983),
    (37.8532, -122.3010),  # Ashby Avenue
    (37.8600, -122.3040),
    (37.8668, -122.3062),  # University Avenue
    (37.8735, -122.3071),
    (37.8797, -122.3079),  # Gilman Street
    (37.8862, -122.3089),  # Buchanan Street
)
_NEXT_SEGMENT = (0.0012, 0.0060)
_ALONG = (0.00055, -0.00012)  # 200 feet in the direction of "east", which here is north by west
_ACROSS = (0.00003, 0.00012)  # from the median to the eastbound side


@dataclass(frozen=True)
class Road:
    """Stations by number, in the order of the segments; arrays have an entry a station.

    >>> road = Road(sensors=32, road_lanes=4)
    >>> road.names[8:12]
    ('i80-e-03-u', 'i80-e-03-d', 'i80-w-03-u', 'i80-w-03-d')
    >>> road.pairs, int(road.segments.max())
    (16, 8)
    """

    sensors: int
    road_lanes: int

    @property
    def pairs(self) -> int:
        """How many upstream stations there are, each with a downstream twin but perhaps the last."""
        return (self.sensors + 1) // 2

    @cached_property
    def segments(self) -> Int64s:
        """The segment, from 1."""
        return np.arange(self.sensors) // 4 + 1

    @cached_property
    def sides(self) -> Int64s:
        """Which of ``SIDES``."""
        return np.arange(self.sensors) // 2 % 2

    @cached_property
    def positions(self) -> Int64s:
        """Which of ``POSITIONS``."""
        return np.arange(self.sensors) % 2

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Road, side, segment and position in a word."""
        stations = zip(self.sides, self.segments, self.positions, strict=True)
        return tuple(
            f"i80-{SIDES[side][0]}-{segment:02d}-{POSITIONS[position][0]}" for side, segment, position in stations
        )

    @cached_property
    def latitudes(self) -> Float64s:
        """Degrees north."""
        return self._coordinates(0)

    @cached_property
    def longitudes(self) -> Float64s:
        """Degrees east: below zero here."""
        return self._coordinates(1)

    def pair_of(self, segment: int, side: str) -> int:
        """Number the pair of stations on one side of a segment.

        >>> Road(32, 4).pair_of(3, "west")
        5
        """
        return 2 * (segment - 1) + SIDES.index(side)

    def _coordinates(self, axis: int) -> Float64s:
        surveyed: Float64s = np.array(_SURVEYED)[:, axis]
        within = np.minimum(self.segments, len(surveyed)) - 1
        beyond = np.maximum(self.segments - len(surveyed), 0)
        heading = np.where(self.sides == 0, 1.0, -1.0)
        middle: Float64s = surveyed[within] + beyond * _NEXT_SEGMENT[axis]
        coordinates: Float64s = middle + heading * (self.positions * _ALONG[axis] + _ACROSS[axis])
        return coordinates.round(5)
