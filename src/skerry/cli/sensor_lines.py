"""Sensors in words, and as JSON."""

import json
from collections.abc import Sequence
from typing import Any

from skerry.catalog import Found, Sensor, SensorStatus
from skerry.catalog.sensor_file import describe_sensor
from skerry.catalog.statuses import COUNTS
from skerry.model.time import Micros, show

__all__ = ["describe_at_length", "describe_line", "to_json_text"]


def describe_line(found: Found) -> str:
    """A sensor on one line.

    >>> describe_line(Found(Sensor("a", "road", "loop", 37.8, -122.3, ("i80",)), distance_m=1234.5))
    'a: road, loop at 37.80000, -122.30000 (i80), 1.2 km away'
    """
    sensor, status = found.sensor, found.status
    tags = f" ({', '.join(sensor.tags)})" if sensor.tags else ""
    parts = [f"{sensor.name}: {sensor.source}, {sensor.kind}{_describe_place(sensor)}{tags}"]
    if found.distance_m is not None:
        metres = found.distance_m
        parts.append(f"{metres:.0f} m away" if metres < 1000 else f"{metres / 1000:.1f} km away")
    return ", ".join(parts + (_describe_status(status) if status else []))


def describe_at_length(sensor: Sensor, status: SensorStatus | None) -> str:
    """All that is known of a sensor, a line for each thing."""
    known = describe_sensor(sensor)
    lines = [f"{name}: {_write(value)}" for name, value in known.items()]
    if status is None:
        return "\n".join([*lines, "status: never heard of"])
    lines += [f"{name.replace('_', ' ')}: {_write(value)}" for name, value in _status_json(status).items()]
    return "\n".join(lines)


def _to_json(found: Found) -> dict[str, Any]:
    """A sensor for machines: as in files, with its status and distance where they are known."""
    made = describe_sensor(found.sensor)
    if found.status is not None:
        made["status"] = _status_json(found.status)
    if found.distance_m is not None:
        made["distance_m"] = round(found.distance_m, 1)
    return made


def to_json_text(found: Found | Sequence[Found]) -> str:
    """One sensor or a list of them, for machines."""
    made = _to_json(found) if isinstance(found, Found) else [_to_json(each) for each in found]
    return json.dumps(made, indent=2, ensure_ascii=False)


def _status_json(status: SensorStatus) -> dict[str, Any]:
    seen = None if status.last_seen_us is None else show(Micros(status.last_seen_us))
    made: dict[str, Any] = {"online": status.online, "last_seen": seen, "battery": status.battery}
    made |= {name: getattr(status, name) for name in COUNTS}
    made |= {"control": status.control, "setting": status.setting and dict(status.setting)}
    return {name: value for name, value in made.items() if value is not None}


def _describe_status(status: SensorStatus) -> list[str]:
    parts = [] if status.online is None else ["on line" if status.online else "off line"]
    if status.last_seen_us is not None:
        parts.append(f"seen {show(Micros(status.last_seen_us))}")
    return [*parts, f"battery {status.battery:.0%}"] if status.battery is not None else parts


def _describe_place(sensor: Sensor) -> str:
    return "" if sensor.latitude is None else f" at {sensor.latitude:.5f}, {sensor.longitude:.5f}"


def _write(value: object) -> str:
    """A value as a line shows it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_write(part)}" for name, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
