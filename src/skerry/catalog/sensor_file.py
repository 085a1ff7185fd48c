"""Sensors in files: YAML, read with what is wrong and where, and written so that it can be read again."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from skerry.catalog.definitions import Sensor
from skerry.catalog.similar_sensors import RELATIONS
from skerry.catalog.yaml_document import Written, YamlDocument
from skerry.errors import InputError
from skerry.model.options import suggest
from skerry.model.time import Micros, show_span, span

__all__ = ["Entry", "check_entries", "describe_sensor", "read_entries", "write_sensors"]

_MOST_SENSORS = 100_000
_MOST_BYTES = 256 << 20
_LONGEST = 1_000
"""How many characters a text, and how many texts a list may have."""
_FIELDS = (
    *("name", "source", "kind", "lat", "lon", "tags", "columns", "units"),
    *("sample_period", "programs", "relations"),
)
_SYNONYMS = {"latitude": "lat", "longitude": "lon"}
_Dumper: type = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Entry(NamedTuple):
    """A sensor of a file, and the line on which it begins."""

    line: int
    sensor: Sensor


def read_entries(file: Path) -> list[Entry]:
    """All sensors of a file. The first that is wrong is refused, with its line."""
    try:
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise InputError(f"a file of sensors may have {_MOST_BYTES >> 20} MB; {file.name} has {size >> 20}")
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"there is no file {str(file)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {str(file)!r}: {error}") from None
    return list(_Reader(YamlDocument(text, file.name)).entries())


def check_entries(
    entries: Sequence[Entry],
    file: str,
    sources: Mapping[str, Collection[str]],
    list_missing: Callable[[Sequence[tuple[str, str]]], Sequence[tuple[str, str]]],
) -> None:
    """Refuse what does not fit together: sensors given twice, columns and relations that lead nowhere.

    ``sources`` are the columns of those that are declared; of others nothing is known. ``list_missing`` says which
    sensors the catalogue does not have.
    """
    known = {(entry.sensor.source, entry.sensor.name) for entry in entries}
    if len(known) < len(entries):
        counts = Counter((entry.sensor.source, entry.sensor.name) for entry in entries)
        again = next(each for each in reversed(entries) if counts[each.sensor.source, each.sensor.name] > 1)
        raise _refuse(file, again, f"source {again.sensor.source!r} has a sensor of that name already in this file")
    for entry in entries:
        _check_columns(entry, file, sources)
        if any(other == entry.sensor.name for _, other in entry.sensor.relations):
            raise _refuse(file, entry, "it is related to itself")
    wanted = {(each.sensor.source, other): each for each in entries for _, other in each.sensor.relations}
    missing = list_missing([key for key in wanted if key not in known])
    for source, other in missing[:1]:
        names = [name for home, name in known if home == source]
        message = f"it is related to {other!r}, which source {source!r} does not have{suggest(other, names)}"
        raise _refuse(file, wanted[source, other], message)


def describe_sensor(sensor: Sensor) -> dict[str, Any]:
    """A sensor as files and machines have it: what is not known is left out.

    >>> describe_sensor(Sensor("a", "road", "loop", tags=("i80",), relations=(("pair_of", "b"),)))
    {'name': 'a', 'source': 'road', 'kind': 'loop', 'tags': ['i80'], 'relations': {'pair_of': ['b']}}
    """
    period = None if sensor.sample_period_us is None else show_span(sensor.sample_period_us)
    relations: dict[str, list[str]] = {}
    for kind, other in sensor.relations:
        relations.setdefault(kind, []).append(other)
    lists = {"tags": list(sensor.tags), "columns": list(sensor.columns), "units": dict(sensor.units)}
    found: dict[str, Any] = {"name": sensor.name, "source": sensor.source, "kind": sensor.kind}
    found |= {"lat": sensor.latitude, "lon": sensor.longitude, **lists, "sample_period": period}
    found |= {"programs": list(sensor.programs), "relations": relations}
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def write_sensors(sensors: Sequence[Sensor]) -> str:
    """The text of a file that ``read_entries`` reads.

    >>> print(write_sensors([Sensor("no", "road", "loop")]), end="")
    sensors:
    - {name: 'no', source: road, kind: loop}
    """
    lines = [_write_flow(describe_sensor(sensor)) for sensor in sensors]
    return "sensors:\n" + "".join(f"- {line}" for line in lines) if lines else "sensors: []\n"


def _write_flow(found: Mapping[str, Any]) -> str:
    return str(
        yaml.dump(found, Dumper=_Dumper, sort_keys=False, default_flow_style=True, width=1 << 30, allow_unicode=True)
    )


def _check_columns(entry: Entry, file: str, sources: Mapping[str, Collection[str]]) -> None:
    sensor = entry.sensor
    known = sources.get(sensor.source)
    for column in (*sensor.columns, *sensor.units):
        if known is not None and column not in known:
            has = f"{', '.join(known)}{suggest(column, tuple(known))}"
            raise _refuse(file, entry, f"source {sensor.source!r} has no column {column!r}; it has {has}")
        if known is None and sensor.columns and column not in sensor.columns:
            raise _refuse(file, entry, f"{column!r} has a unit, but is not among its columns")


def _refuse(file: str, entry: Entry, message: str) -> InputError:
    return InputError(f"{file}: line {entry.line}: sensor {entry.sensor.name!r}: {message}")


class _Reader:
    """Makes sensors of what a document says."""

    def __init__(self, document: YamlDocument) -> None:
        self._document = document
        self._source: str | None = None

    def entries(self) -> Iterator[Entry]:
        """The sensors in order; ``source`` before them is that of those which name none."""
        seen = False
        for key in self._document.top_keys():
            if key == "source":
                self._source = self._text(self._document.read(), "source")
            elif key == "sensors":
                seen = True
                for count, written in enumerate(self._document.entries(), 1):
                    if count > _MOST_SENSORS:
                        raise self._document.fault(written.line, f"a file may have {_MOST_SENSORS} sensors")
                    yield Entry(written.line, self._sensor(written))
            else:
                message = f"unknown key {key!r}; a file has source and sensors{suggest(key, ('source', 'sensors'))}"
                raise self._document.fault(self._document.read().line, message)
        if not seen:
            raise self._document.fault(1, "there is no list 'sensors'")

    def _sensor(self, written: Written) -> Sensor:
        if not isinstance(written.value, dict):
            raise self._document.fault(
                written.line, "a sensor is a mapping such as {name: a, source: road, kind: loop}"
            )
        given = {_SYNONYMS.get(name, name): value for name, value in written.value.items() if value.value is not None}
        for name, value in written.value.items():
            if _SYNONYMS.get(name, name) not in _FIELDS:
                known = f"{', '.join(_FIELDS)}{suggest(name, _FIELDS)}"
                raise self._document.fault(value.line, f"unknown key {name!r} of a sensor; known are {known}")
        if ("lat" in given) != ("lon" in given):
            raise self._document.fault(written.line, "a location has both, lat and lon")
        return Sensor(
            self._required(given, "name", written.line),
            self._text(given["source"], "source") if "source" in given else self._home(written.line),
            self._required(given, "kind", written.line),
            self._degrees(given.get("lat"), "lat", 90.0),
            self._degrees(given.get("lon"), "lon", 180.0),
            self._texts(given.get("tags"), "tags"),
            self._texts(given.get("columns"), "columns"),
            self._units(given.get("units")),
            self._period(given.get("sample_period")),
            self._texts(given.get("programs"), "programs"),
            self._relations(given.get("relations")),
        )

    def _required(self, given: Mapping[str, Written], name: str, line: int) -> str:
        if name not in given:
            raise self._document.fault(line, f"a sensor needs {name!r}; it has {', '.join(given) or 'nothing'}")
        return self._text(given[name], name)

    def _home(self, line: int) -> str:
        if self._source is None:
            raise self._document.fault(line, "a sensor needs 'source', its own or one before all sensors")
        return self._source

    def _text(self, written: Written, name: str) -> str:
        value = written.value
        if not isinstance(value, str) or not value or len(value) > _LONGEST or not value.isprintable():
            raise self._document.fault(written.line, f"{name} must be a text of 1 to {_LONGEST} printable characters")
        return value

    def _degrees(self, written: Written | None, name: str, most: float) -> float | None:
        if written is None:
            return None
        try:
            found = float(written.value) if isinstance(written.value, str) else math.nan
        except ValueError:
            found = math.nan
        if not -most <= found <= most:
            got = repr(written.value) if isinstance(written.value, str) else "something else"
            raise self._document.fault(written.line, f"{name} is a number from {-most:g} to {most:g}; got {got[:50]}")
        return found

    def _texts(self, written: Written | None, name: str) -> tuple[str, ...]:
        if written is None:
            return ()
        if not isinstance(written.value, list) or len(written.value) > _LONGEST:
            raise self._document.fault(written.line, f"{name} is a list of at most {_LONGEST} texts, such as [a, b]")
        return tuple(dict.fromkeys(self._text(each, f"each of {name}") for each in written.value))

    def _units(self, written: Written | None) -> dict[str, str]:
        if written is None:
            return {}
        if not isinstance(written.value, dict) or len(written.value) > _LONGEST:
            raise self._document.fault(written.line, "units are a mapping of columns, such as {speed: mph}")
        return {name: self._text(unit, f"the unit of {name}") for name, unit in written.value.items()}

    def _period(self, written: Written | None) -> Micros | None:
        if written is None:
            return None
        found = span(written.value) if isinstance(written.value, str) else None
        if not found:
            raise self._document.fault(written.line, "sample_period is a span of time such as 250ms, 1s or 10min")
        return found

    def _relations(self, written: Written | None) -> tuple[tuple[str, str], ...]:
        if written is None:
            return ()
        if not isinstance(written.value, dict):
            raise self._document.fault(written.line, "relations are a mapping, such as {pair_of: [loop-8]}")
        found: list[tuple[str, str]] = []
        for kind, others in written.value.items():
            if kind not in RELATIONS:
                known = f"{', '.join(RELATIONS)}{suggest(kind, RELATIONS)}"
                raise self._document.fault(others.line, f"unknown relation {kind!r}; known are {known}")
            several = others if isinstance(others.value, list) else Written(others.line, [others])
            found += [(kind, other) for other in self._texts(several, kind)]
        return tuple(found)
