"""What sensors and their proxies say to each other: setting, control and state, as JSON.

    PREFIX/SENSOR/data      readings: one, a list, or {"readings": [...], "listens_ms": 50}
    PREFIX/SENSOR/control   to the sensor: a setting, and its number
    PREFIX/SENSOR/state     of the sensor, retained: its setting, the number of the last control, battery, listening

A sensor listens for ``listens_ms`` after a message that says so, and at no other time: control goes out then. It takes
a control whose number is higher than that of its last one, and answers every control with its state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sensors.message_fields import (
    read_flag,
    read_number,
    read_ranges,
    read_text,
    read_texts,
    read_units,
    read_whole,
)

__all__ = ["LONGEST_LISTENING_MS", "Control", "SensorState", "Setting"]

LONGEST_LISTENING_MS = 3_600_000
_LONGEST_PERIOD_MS = 366 * 86_400_000
_HIGHEST_NUMBER = (1 << 53) - 1
"""Of a control. A sensor may say half of that, so that there are numbers left to tell it something."""

Ranges = tuple[tuple[float | None, float | None], ...]
"""Intervals with both ends in; None is without an end."""


@dataclass(frozen=True)
class Setting:
    """What a sensor is to do: sample so often, run a program, send some columns of some readings, or sleep.

    ``ranges`` hold the values that some query wants, by column: a reading outside of all intervals of one of its
    columns is wanted by nobody. None as ``program``, ``columns`` or ``sample_period_us`` leaves that to the sensor.
    """

    program: str | None = None
    sample_period_us: Micros | None = None
    columns: tuple[str, ...] | None = None
    ranges: Mapping[str, Ranges] = field(default_factory=dict)
    asleep: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it goes over the wire.

        >>> Setting("counts", Micros(5_500)).to_json()
        {'asleep': False, 'program': 'counts', 'sample_period_ms': 5.5}
        """
        period = None if self.sample_period_us is None else self.sample_period_us / MICROS["MILLISECOND"]
        columns = None if self.columns is None else list(self.columns)
        ranges = {name: [list(each) for each in spans] for name, spans in self.ranges.items()} or None
        found = {"program": self.program, "sample_period_ms": period, "columns": columns, "ranges": ranges}
        return {"asleep": self.asleep, **{name: value for name, value in found.items() if value is not None}}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Setting":
        """As it came over the wire; other keys are left alone. A ``ValueError`` says what is nonsense."""
        period = read_number(found, "sample_period_ms", 1 / MICROS["MILLISECOND"], _LONGEST_PERIOD_MS)
        return cls(
            read_text(found, "program"),
            None if period is None else Micros(round(period * MICROS["MILLISECOND"])),
            read_texts(found, "columns"),
            read_ranges(found, "ranges"),
            read_flag(found, "asleep"),
        )


@dataclass(frozen=True)
class Control:
    """A setting on its way to a sensor. Numbers rise, so that a control that comes twice, or late, does nothing."""

    number: int
    setting: Setting

    def to_json(self) -> dict[str, Any]:
        """As it goes over the wire."""
        return {"control": self.number, **self.setting.to_json()}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Control":
        """As it came over the wire. A ``ValueError`` says what is nonsense."""
        number = read_whole(found, "control", _HIGHEST_NUMBER)
        if number is None:
            raise ValueError("a control has a number, control")
        return cls(number, Setting.from_json(found))


@dataclass(frozen=True)
class SensorState:
    """What a sensor says of itself: its setting, the number of the control it has from, battery, kind, location.

    ``control`` is 0 as long as nobody has told it anything: a sensor that restarts begins there again.
    ``battery`` is the fraction that is left, None where there is none. ``programs`` are those that it knows.
    """

    setting: Setting
    control: int = 0
    battery: float | None = None
    listens_ms: float = 0.0
    kind: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    programs: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As it goes over the wire."""
        own = {name: getattr(self, name) for name in _OWN}
        own["programs"], own["units"] = list(self.programs), dict(self.units)
        said = {name: value for name, value in own.items() if value not in (None, [], {})}
        return {"control": self.control, **self.setting.to_json(), **said}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "SensorState":
        """As it came over the wire. A ``ValueError`` says what is nonsense."""
        return cls(
            Setting.from_json(found),
            read_whole(found, "control", _HIGHEST_NUMBER // 2) or 0,
            read_number(found, "battery", 0, 1),
            read_number(found, "listens_ms", 0, LONGEST_LISTENING_MS) or 0.0,
            read_text(found, "kind"),
            read_number(found, "latitude", -90, 90),
            read_number(found, "longitude", -180, 180),
            read_texts(found, "programs") or (),
            read_units(found, "units"),
        )


_OWN = ("battery", "listens_ms", "kind", "latitude", "longitude", "programs", "units")
