"""Search over sensors, one by one: the slow twin of ``skerry.catalog.find_sensors``."""

import math

from skerry.catalog import Area, Point, Search, Sensor, SensorStatus


def fits(search: Search, sensor: Sensor, status: SensorStatus | None) -> bool:
    """Whether a sensor is what is looked for."""
    seen = status.last_seen_us if status else None
    return all(
        (
            set(search.tags) <= set(sensor.tags),
            search.kind in (None, sensor.kind),
            search.source in (None, sensor.source),
            search.text is None or search.text.lower() in sensor.name.lower(),
            search.near is None or _is_near(search.near, search.within_m or 0.0, sensor),
            search.area is None or _is_in(search.area, sensor),
            search.seen_since_us is None or (seen is not None and seen >= search.seen_since_us),
            search.silent_since_us is None or seen is None or seen < search.silent_since_us,
        )
    )


def distance_m(point: Point, sensor: Sensor) -> float:
    """The angle between two directions, times the radius: exact enough beyond a metre."""
    if sensor.latitude is None or sensor.longitude is None:
        return math.inf
    one, other = _direction(point.latitude, point.longitude), _direction(sensor.latitude, sensor.longitude)
    return 6_371_008.8 * 2 * math.asin(min(1.0, math.dist(one, other) / 2))


def _direction(latitude: float, longitude: float) -> tuple[float, float, float]:
    up, around = math.radians(latitude), math.radians(longitude)
    return math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up)


def _is_near(point: Point, within_m: float, sensor: Sensor) -> bool:
    return sensor.latitude is not None and distance_m(point, sensor) <= within_m


def _is_in(area: Area, sensor: Sensor) -> bool:
    if sensor.latitude is None or sensor.longitude is None or not area.south <= sensor.latitude <= area.north:
        return False
    if area.west <= area.east:
        return area.west <= sensor.longitude <= area.east
    return sensor.longitude >= area.west or sensor.longitude <= area.east
