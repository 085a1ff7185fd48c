"""Search: sensors by tag, kind, source, location, freshness and name."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Join,
    Select,
    String,
    Table,
    and_,
    bindparam,
    column,
    exists,
    func,
    or_,
    select,
)
from sqlalchemy.sql import literal

from skerry.catalog.definitions import Sensor
from skerry.catalog.distance import Area, Point, box_around, distances_m
from skerry.catalog.sensors import read_sensor
from skerry.catalog.statuses import SensorStatus, read_status
from skerry.model.time import Micros

__all__ = ["Found", "Search", "count_sensors", "find_sensors", "sort_by_distance"]


@dataclass(frozen=True)
class Search:
    """What to look for; all that is given must hold.

    ``seen_since_us`` wants a last message at that time or later, ``silent_since_us`` none at that time or later: a
    sensor that was never heard is silent. ``near`` and ``within_m`` go together; so found, the nearest come first.
    """

    tags: tuple[str, ...] = ()
    kind: str | None = None
    source: str | None = None
    text: str | None = None
    """A part of the name, in any case."""
    near: Point | None = None
    within_m: float | None = None
    area: Area | None = None
    seen_since_us: Micros | None = None
    silent_since_us: Micros | None = None


@dataclass(frozen=True)
class Found:
    """A sensor, how it is if that is known, and how far it is from where it was looked for."""

    sensor: Sensor
    status: SensorStatus | None = None
    distance_m: float | None = None


def find_sensors(
    connection: Connection, sensors: Table, statuses: Table, search: Search, limit: int | None = None
) -> list[Found]:
    """All sensors that fit, or some of them: the nearest first if it is about a location, by name otherwise."""
    joined = _join(sensors, statuses)
    of_status = [each.label(f"status_{each.name}") for each in statuses.c]
    chosen = select(*sensors.c, *of_status).select_from(joined).order_by(sensors.c.name, sensors.c.source)
    chosen = chosen.where(*_conditions(sensors, statuses, search))
    if search.near is None:
        return _read(connection, chosen.limit(limit), statuses)
    return sort_by_distance(_read(connection, chosen, statuses), search.near, search.within_m)[:limit]


def count_sensors(connection: Connection, sensors: Table, statuses: Table, search: Search) -> int:
    """How many sensors fit."""
    if search.near is not None:
        return len(find_sensors(connection, sensors, statuses, search))
    counted = select(func.count()).select_from(_join(sensors, statuses))
    return int(connection.execute(counted.where(*_conditions(sensors, statuses, search))).scalar_one())


def _join(sensors: Table, statuses: Table) -> Join:
    """Sensors, and the statuses of those that were heard of."""
    same = and_(sensors.c.name == statuses.c.name, sensors.c.source == statuses.c.source)
    return sensors.outerjoin(statuses, same)


def sort_by_distance(found: Sequence[Found], point: Point, within_m: float | None = None) -> list[Found]:
    """The nearest first, those without a location last, or if a distance is given no more than those within it."""
    placed = [each for each in found if each.sensor.latitude is not None and each.sensor.longitude is not None]
    locations = np.array([(each.sensor.latitude, each.sensor.longitude) for each in placed], np.float64).reshape(-1, 2)
    metres = distances_m(point, locations[:, 0], locations[:, 1])
    nearest = [
        Found(placed[row].sensor, placed[row].status, float(metres[row]))
        for row in np.argsort(metres, kind="stable")
        if within_m is None or metres[row] <= within_m
    ]
    return nearest if within_m is not None else [*nearest, *(each for each in found if each.sensor.latitude is None)]


def _conditions(sensors: Table, statuses: Table, search: Search) -> list[ColumnElement[bool]]:
    found = [_has_tag(sensors, tag) for tag in search.tags]
    if search.kind is not None:
        found.append(sensors.c.kind == search.kind)
    if search.source is not None:
        found.append(sensors.c.source == search.source)
    if search.text is not None:
        found.append(func.instr(func.lower(sensors.c.name), func.lower(literal(search.text))) > 0)
    if search.near is not None and search.within_m is not None:
        found.append(_is_in(sensors, box_around(search.near, search.within_m)))
    if search.area is not None:
        found.append(_is_in(sensors, search.area))
    if search.seen_since_us is not None:
        found.append(statuses.c.last_seen_us >= search.seen_since_us)
    if search.silent_since_us is not None:
        found.append(func.coalesce(statuses.c.last_seen_us < search.silent_since_us, literal(True)))
    return found


def _has_tag(sensors: Table, tag: str) -> ColumnElement[bool]:
    """Whether a tag is among those of a sensor: a list in JSON."""
    each = func.json_each(sensors.c.tags).table_valued(column("value", String))
    return exists(select(1).select_from(each).where(each.c.value == bindparam(None, tag)))


def _is_in(sensors: Table, area: Area) -> ColumnElement[bool]:
    east = sensors.c.longitude <= area.east
    west = sensors.c.longitude >= area.west
    across = or_(west, east) if area.west > area.east else and_(west, east)
    return and_(sensors.c.latitude.between(area.south, area.north), across)


def _read(connection: Connection, chosen: Select[tuple[object, ...]], statuses: Table) -> list[Found]:
    found = []
    for row in connection.execute(chosen).mappings():
        status = {each.name: row[f"status_{each.name}"] for each in statuses.c}
        found.append(Found(read_sensor(row), read_status(status) if status["name"] is not None else None))
    return found
