"""How the sensors of a run are: written to the catalogue now and then, and never for more than a share of the time."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from skerry.catalog import Catalog, SensorStatus
from skerry.model.time import MICROS, Micros
from skerry.sensors.heard import Heard
from skerry.sensors.proxies import Proxy
from skerry.sources.source import Receiving

__all__ = ["StatusWriter"]

_EVERY_SECONDS = 1.0
_SHARE = 0.05
"""Of the time of a run that may go into writing: with many sensors it is written less often."""
_MISSED = 3
"""A sensor that should have been heard so many times, and was not, is off line."""
_SILENT_US = Micros(MICROS["MINUTE"])
"""The same of one whose rate is not known."""
_PROFILE_SECONDS = 60.0
"""What was seen of a sensor's readings is much to write, and changes slowly."""


class StatusWriter:
    """Writes who was heard, what they say of themselves, and who has fallen silent."""

    def __init__(self, catalog: Catalog, clock: Callable[[], float] = time.monotonic) -> None:
        self._catalog, self._clock, self._next = catalog, clock, 0.0
        self._seen_us: dict[tuple[str, str], Micros] = {}
        self._silent: set[tuple[str, str]] = set()
        self._limits: dict[str, _Limits] = {}
        self._next_profiles: dict[tuple[str, str], float] = {}

    def look(self, receiving: Mapping[str, Receiving]) -> None:
        """Write, if that is due."""
        if self._clock() >= self._next:
            begun = time.perf_counter()
            self.write(receiving)
            self._next = self._clock() + max(_EVERY_SECONDS, (time.perf_counter() - begun) / _SHARE)

    def write(self, receiving: Mapping[str, Receiving], *, with_profiles: bool = False) -> None:
        """Write what is new of all sources; what was seen of readings too, though it may not be due."""
        if with_profiles:
            self._next_profiles.clear()
        now = Micros(time.time_ns() // 1_000)
        for source, each in receiving.items():
            statuses = self._list_heard(source, each.take_heard(), each.list_proxies())
            statuses += self._list_silent(source, now)
            if statuses:
                self._catalog.add_heard(source, statuses)
                each.settle_heard()

    def _list_heard(self, source: str, heard: Mapping[str, Heard], proxies: Mapping[str, Proxy]) -> list[SensorStatus]:
        found = []
        for sensor in {*heard, *(name for name, proxy in proxies.items() if self._is_newer(source, name, proxy))}:
            proxy = proxies.get(sensor)
            status = replace(
                _describe(source, sensor, heard.get(sensor), proxy), seen=self._profile(source, sensor, proxy)
            )
            if status.last_seen_us is not None:
                self._seen_us[source, sensor] = status.last_seen_us
                self._silent.discard((source, sensor))
            found.append(status)
        return found

    def _profile(self, source: str, sensor: str, proxy: Proxy | None) -> str | None:
        """What was seen of a sensor's readings, if it is time to write that again."""
        if proxy is None or proxy.state is None or self._clock() < self._next_profiles.get((source, sensor), 0.0):
            return None
        self._next_profiles[source, sensor] = self._clock() + _PROFILE_SECONDS
        return json.dumps(proxy.watch.describe().to_json())

    def _is_newer(self, source: str, sensor: str, proxy: Proxy) -> bool:
        return proxy.heard_us is not None and proxy.heard_us > self._seen_us.get((source, sensor), -1)

    def _list_silent(self, source: str, now: Micros) -> list[SensorStatus]:
        """Those that were heard in this run, and have been silent for too long since the last look."""
        limits = self._limits.get(source) or self._limits.setdefault(source, _Limits(self._catalog, source))
        found = {
            (home, sensor)
            for (home, sensor), seen in self._seen_us.items()
            if home == source and now - seen > limits.of(sensor)
        }
        fallen, self._silent = found - self._silent, self._silent | found
        return [SensorStatus(sensor, home, online=False) for home, sensor in sorted(fallen)]


class _Limits:
    """How long the sensors of a source may be silent: by their own rate, by that of their source, or a minute."""

    def __init__(self, catalog: Catalog, source: str) -> None:
        rates = [each.sample_period_us for each in catalog.sources() if each.name == source]
        self._others = _to_limit(rates[0] if rates else None)
        self._own = {
            each.name: _to_limit(each.sample_period_us)
            for each in catalog.sensor_entries.all(source)
            if each.sample_period_us is not None
        }

    def of(self, sensor: str) -> Micros:
        """That of one sensor."""
        return self._own.get(sensor, self._others)


def _to_limit(period_us: Micros | None) -> Micros:
    """The time of some readings, and a moment: what is on its way takes time too."""
    return _SILENT_US if period_us is None else Micros(_MISSED * period_us + MICROS["SECOND"])


def _describe(source: str, sensor: str, heard: Heard | None, proxy: Proxy | None) -> SensorStatus:
    state = proxy.state if proxy else None
    times = [each for each in (heard.last_us if heard else None, proxy.heard_us if proxy else None) if each is not None]
    counts = (heard.readings, heard.gaps, heard.duplicates, heard.garbled) if heard else (0, 0, 0, 0)
    status = SensorStatus(sensor, source, max(times, default=None), True, None, *counts)
    if state is None:
        return status
    return replace(status, battery=state.battery, control=state.control, setting=state.setting.to_json())
