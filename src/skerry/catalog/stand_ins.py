"""Who stands in for whom, by what the catalogue says of sensors: the same for the same catalogue."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from skerry.catalog.definitions import Sensor
from skerry.catalog.find_sensors import Found
from skerry.catalog.similar_sensors import rank_similar

__all__ = ["FALLBACKS", "find_stand_ins"]

FALLBACKS = ("pair", "replaces", "similar")
"""The ways to find who stands in: the pair of a sensor, one that replaces it, or the most similar."""
_MOST_SIMILAR = 3


def find_stand_ins(way: str, sensors: Sequence[Sensor], names: Iterable[str] | None = None) -> dict[str, list[str]]:
    """By sensor of one source, or of some of it, who stands in for it, the best first; those without are left out.

    Similar are sensors of the same kind that fill the same columns: those that replace it, its pairs, then up to three
    that have a location, by distance. Whether they are on line does not count: that changes while a view runs.

    >>> sensors = [Sensor("a", "road", "loop", relations=(("pair_of", "b"),)), Sensor("b", "road", "loop")]
    >>> find_stand_ins("pair", sensors), find_stand_ins("replaces", sensors)
    ({'a': ['b'], 'b': ['a']}, {})
    """
    wanted = None if names is None else set(names)
    dead = [sensor for sensor in sensors if wanted is None or sensor.name in wanted]
    if way == "similar":
        found = {sensor.name: _list_similar(sensor, sensors) for sensor in dead}
    else:
        related = _relate(way, sensors)
        found = {sensor.name: related[sensor.name] for sensor in dead}
    return {name: others for name, others in found.items() if others}


def _relate(way: str, sensors: Sequence[Sensor]) -> Mapping[str, list[str]]:
    """By sensor, those that are related to it in a way, by name."""
    known, found = {sensor.name for sensor in sensors}, defaultdict(set)
    for sensor in sensors:
        for relation, other in sensor.relations:
            if way == "pair" and relation == "pair_of":
                found[sensor.name].add(other)
                found[other].add(sensor.name)
            elif relation == way:
                found[other].add(sensor.name)
    return defaultdict(list, {name: sorted((others & known) - {name}) for name, others in found.items()})


def _list_similar(sensor: Sensor, sensors: Sequence[Sensor]) -> list[str]:
    related = {*_relate("replaces", sensors)[sensor.name], *_relate("pair", sensors)[sensor.name]}
    ranked = rank_similar(sensor, [Found(each) for each in sensors], {})
    near = [each.sensor.name for each in ranked if each.distance_m is not None and each.sensor.name not in related]
    return [each.sensor.name for each in ranked if each.sensor.name in {*related, *near[:_MOST_SIMILAR]}]
