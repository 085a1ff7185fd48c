"""Alternatives for a sensor: who could stand in for one that is dead."""

from collections.abc import Iterable, Mapping, Sequence

from skerry.catalog.definitions import Sensor
from skerry.catalog.distance import Point
from skerry.catalog.find_sensors import Found, sort_by_distance

__all__ = ["RELATIONS", "rank_similar"]

RELATIONS = ("upstream_of", "pair_of", "replaces")
"""What a sensor can be to another."""


def rank_similar(
    sensor: Sensor, candidates: Iterable[Found], columns: Mapping[str, Sequence[str]], *, with_offline: bool = False
) -> list[Found]:
    """Who measures what a sensor measures: of its kind, with all of its columns.

    First those that say they replace it, then its pairs, then those it replaced, then by distance. Those that are
    known to be off line are left out unless they are asked for. ``columns`` are those of each source, for sensors that
    fill them all.

    >>> dead = Sensor("a", "road", "loop", 0.0, 0.0)
    >>> near, far = Sensor("b", "road", "loop", 0.0, 0.1), Sensor("c", "road", "loop", 0.0, 0.2)
    >>> pair = Sensor("d", "road", "loop", 0.0, 0.3, relations=(("pair_of", "a"),))
    >>> [each.sensor.name for each in rank_similar(dead, map(Found, [far, pair, near, dead]), {})]
    ['d', 'b', 'c']
    """
    fit = [each for each in candidates if _is_fit(sensor, each, columns, with_offline=with_offline)]
    if sensor.latitude is not None and sensor.longitude is not None:
        fit = sort_by_distance(fit, Point(sensor.latitude, sensor.longitude))
    return sorted(fit, key=lambda each: (_rank(sensor, each.sensor), each.sensor.source != sensor.source))


def _is_fit(sensor: Sensor, found: Found, columns: Mapping[str, Sequence[str]], *, with_offline: bool) -> bool:
    other, status = found.sensor, found.status
    if other.kind != sensor.kind or (other.name, other.source) == (sensor.name, sensor.source):
        return False
    if status is not None and status.online is False and not with_offline:
        return False
    wanted, filled = (each.columns or columns.get(each.source, ()) for each in (sensor, other))
    return set(wanted) <= set(filled)


def _rank(sensor: Sensor, other: Sensor) -> int:
    """What they are to each other: relations are between sensors of one source."""
    if sensor.source == other.source:
        said, says = set(sensor.relations), set(other.relations)
        if ("replaces", sensor.name) in says:
            return 0
        if ("pair_of", sensor.name) in says or ("pair_of", other.name) in said:
            return 1
        if ("replaces", other.name) in said:
            return 2
    return 3
