"""Joins of variable arity by comparing every tuple with every other."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple


class Reading(NamedTuple):
    """A tuple: its key, its sensor and its time."""

    key: object
    sensor: object
    ts: int


class Answer(NamedTuple):
    """A tuple, how many sensors take part, and all members as (sensor, time)."""

    reading: Reading
    arity: int
    members: tuple[tuple[object, int], ...]


def gather(readings: Sequence[Reading], span_us: int, min_arity: int) -> list[Answer]:
    """The answers of all readings, which are given in order of arrival."""
    known = [reading for reading in readings if _takes_part(reading)]
    found = [_answer(known, place, span_us) for place in range(len(known))]
    return [answer for answer in found if answer.arity >= min_arity]


def gather_early(readings: Sequence[Reading], span_us: int, min_arity: int) -> list[Answer]:
    """What each reading gives on arrival: its own answer, and those anew that it is a member of."""
    taking_part = [reading for reading in readings if _takes_part(reading)]
    given = []
    for place in range(len(taking_part)):
        known = taking_part[: place + 1]
        changed = [other for other in range(place) if place in _members(known, other, span_us)]
        given += [_answer(known, each, span_us) for each in [place, *changed]]
    return [answer for answer in given if answer.arity >= min_arity]


def flatten(answer: Answer) -> list[Answer]:
    """Every way to choose one member of each other sensor."""
    places = range(1, len(answer.members))
    sensors = {answer.members[place][0] for place in places}
    chosen = product(*([place for place in places if answer.members[place][0] == sensor] for sensor in sensors))
    return [answer._replace(members=tuple(answer.members[place] for place in [0, *sorted(row)])) for row in chosen]


def _answer(readings: Sequence[Reading], place: int, span_us: int) -> Answer:
    members = tuple((readings[each].sensor, readings[each].ts) for each in _members(readings, place, span_us))
    return Answer(readings[place], len({sensor for sensor, _ in members}), members)


def _members(readings: Sequence[Reading], place: int, span_us: int) -> list[int]:
    """The reading, and those before it that it reaches, newest first."""
    own = readings[place]
    others = [
        other
        for other, reading in enumerate(readings)
        if reading.key == own.key
        and reading.sensor != own.sensor
        and reading.ts >= own.ts - span_us
        and _order(readings, other) < _order(readings, place)
    ]
    return [place, *sorted(others, key=lambda other: _order(readings, other), reverse=True)]


def _takes_part(reading: Reading) -> bool:
    return reading.key is not None and reading.key == reading.key and reading.sensor is not None


def _order(readings: Sequence[Reading], place: int) -> tuple[int, object, int]:
    sensor = readings[place].sensor
    return readings[place].ts, sensor.encode() if isinstance(sensor, str) else sensor, place
