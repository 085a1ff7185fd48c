"""Columns and their types, from the values that were seen; units, where names suggest them."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from skerry.model.time import Micros

__all__ = ["SeenColumn", "count_columns", "guess_unit", "read_time_text"]

_RARE = 0.01
"""What fewer readings than this have is taken for garbage."""
_UNITS = {
    **{"c": "°C", "celsius": "°C", "f": "°F", "fahrenheit": "°F", "k": "K", "kelvin": "K"},
    **{"pct": "%", "percent": "%", "mph": "mph", "kmh": "km/h", "kph": "km/h", "mps": "m/s", "rpm": "rpm"},
    **{"v": "V", "mv": "mV", "a": "A", "ma": "mA", "w": "W", "kw": "kW", "kwh": "kWh", "wh": "Wh", "hz": "Hz"},
    **{"ppm": "ppm", "ppb": "ppb", "ugm3": "µg/m³", "hpa": "hPa", "kpa": "kPa", "pa": "Pa", "bar": "bar", "psi": "psi"},
    **{"mm": "mm", "cm": "cm", "m": "m", "km": "km", "ft": "ft", "kg": "kg", "g": "g", "mg": "mg", "l": "l"},
    **{"lux": "lx", "lx": "lx", "db": "dB", "dba": "dB(A)", "deg": "°", "us": "µs", "ms": "ms", "s": "s", "min": "min"},
}
"""What stands behind the last _ of a name."""


@dataclass(frozen=True)
class SeenColumn:
    """A column: in how many readings it was seen, and how many of its values were of which class."""

    name: str
    seen: int
    classes: Counter[str]

    @property
    def is_empty(self) -> bool:
        """Whether it was NULL whenever it was seen."""
        return set(self.classes) <= {"null"}

    @property
    def sort(self) -> str:
        """Of what sort its values are, with one word for all numbers; empty if none was seen."""
        return "" if self.is_empty else {"BIGINT": "number", "DOUBLE": "number"}.get(self.type, self.type)

    @property
    def type(self) -> str:
        """The SQL type of most values."""
        known = Counter({kind: count for kind, count in self.classes.items() if kind != "null"})
        numbers = known["whole"] + known["number"]
        kinds = {"BOOLEAN": known["truth"], "VARCHAR": known["text"] + known["time"], "JSON": known["nested"]}
        kinds["DOUBLE" if known["number"] else "BIGINT"] = numbers
        most = max(kinds, key=lambda kind: kinds[kind])
        if most == "VARCHAR" and known["time"] > known["text"]:
            return "TIMESTAMP"
        return most if kinds[most] else "VARCHAR"


def count_columns(readings: Iterable[Mapping[str, Any]]) -> dict[str, SeenColumn]:
    """The columns of some readings in the order in which they were first seen, but for those that are rare.

    >>> found = count_columns([{"a": 1, "b": "x"}, {"a": 2.5, "b": None}])
    >>> {name: column.type for name, column in found.items()}
    {'a': 'DOUBLE', 'b': 'VARCHAR'}
    """
    classes: dict[str, Counter[str]] = {}
    spelled: dict[str, str] = {}
    total = 0
    for values in readings:
        total += 1
        for name, value in values.items():
            first = spelled.setdefault(name.lower(), name)
            classes.setdefault(first, Counter())[_classify(value)] += 1
    found = {name: SeenColumn(name, counts.total(), counts) for name, counts in classes.items()}
    return {name: column for name, column in found.items() if name.strip() and column.seen > _RARE * total}


def guess_unit(name: str) -> str | None:
    """The unit that a name suggests.

    >>> guess_unit("temperature_c"), guess_unit("temperature"), guess_unit("Speed_kmh")
    ('°C', None, 'km/h')
    """
    found = re.fullmatch(r".+_([a-z]+[0-9]?)", name.lower().replace("ug_m3", "ugm3").replace("km_h", "kmh"))
    return _UNITS.get(found[1]) if found else None


def read_time_text(value: object) -> Micros | None:
    """The moment that a text, or a time of CBOR, names."""
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:", value):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    aware = value if value.tzinfo else value.replace(tzinfo=UTC)
    return Micros(round(aware.timestamp() * 1e6))


def _classify(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int):
        return "whole" if abs(value) < 2**63 else "number"
    if isinstance(value, float):
        return "number"
    if isinstance(value, list | dict | tuple):
        return "nested"
    return "time" if read_time_text(value) is not None else "text"
