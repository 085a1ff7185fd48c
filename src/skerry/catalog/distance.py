"""Distances on the globe, and the boxes around a point."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Area", "Point", "box_around", "distances_m"]

_RADIUS_M = 6_371_008.8
"""The mean radius of the earth: distances are right to half a percent."""
_SLACK = 1 + 1e-9
"""Boxes are a little larger than they must be: what is in them is measured again."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """A location: latitude and longitude in degrees."""

    latitude: float
    longitude: float


@dataclass(frozen=True)
class Area:
    """Degrees from south to north and from west to east, ends in. West is greater than east across 180 degrees."""

    south: float
    west: float
    north: float
    east: float


def distances_m(point: Point, latitudes: Floats, longitudes: Floats) -> Floats:
    """Metres from a point along great circles, by the haversine formula.

    >>> london_m = distances_m(Point(48.8566, 2.3522), np.array([51.5074]), np.array([-0.1278]))
    >>> round(float(london_m[0]) / 1000)
    344
    """
    north, south = np.radians(latitudes), math.radians(point.latitude)
    half_east = np.radians(longitudes - point.longitude) / 2
    chord = np.sin((north - south) / 2) ** 2 + np.cos(north) * math.cos(south) * np.sin(half_east) ** 2
    found: Floats = 2 * _RADIUS_M * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0)))
    return found


def box_around(point: Point, radius_m: float) -> Area:
    """The smallest area in degrees that holds all points within a distance.

    >>> box_around(Point(0.0, 180.0), 1000.0).west > 0 > box_around(Point(0.0, 180.0), 1000.0).east
    True
    """
    angle = radius_m / _RADIUS_M * _SLACK
    high = math.degrees(angle) + 1e-9
    south, north = point.latitude - high, point.latitude + high
    if south <= -90 or north >= 90:
        return Area(max(south, -90.0), -180.0, min(north, 90.0), 180.0)
    wide = math.degrees(math.asin(min(1.0, math.sin(angle) / math.cos(math.radians(point.latitude))))) + 1e-9
    if wide >= 180:
        return Area(south, -180.0, north, 180.0)
    return Area(south, _turn(point.longitude - wide), north, _turn(point.longitude + wide))


def _turn(longitude: float) -> float:
    """A longitude from -180 to 180."""
    if -180 <= longitude <= 180:
        return longitude
    return longitude - 360 * math.copysign(1, longitude)
