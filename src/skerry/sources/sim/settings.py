"""The options of a simulated source: read from strings, checked, with what is known when they are wrong."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros, show_span, span
from skerry.sources.sim.incidents import MOST_AN_HOUR
from skerry.sources.sim.traffic import MOST_LANES

__all__ = ["DEFAULTS", "Settings"]

DEFAULTS: Mapping[str, str] = {
    "kind": "traffic",
    "sensors": "32",
    "lanes": "4",
    "sample_period": "1s",
    "seed": "1",
    "start_time": "2000-06-05 06:00:00",
    "duration": "",
    "rate": "",
    "speedup": "",
    "missing": "0.01",
    "garbled": "0.001",
    "incidents": "2",
    "disorder": "0s",
}
"""The options there are, and what holds without them; nothing stands for: not given."""


@dataclass(frozen=True)
class Settings:
    """What is simulated, and how fast a live source plays it: ``speedup`` seconds of the road a second.

    ``ticks`` is how often each loop is sampled, None for a live source; ``disorder_ticks`` is by how
    many ticks a reading may be late.

    >>> Settings.parse({"sample_period": "250ms", "duration": "1min"}).ticks
    240
    >>> Settings.parse({"rate": "1280"}).speedup
    10.0
    >>> Settings.parse({"speed": "60"})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown option 'speed' of connector 'sim'; it has disorder, duration, ...
    """

    sensors: int
    lanes: int
    period_us: int
    seed: int
    start_us: Micros
    ticks: int | None
    speedup: float
    missing: float
    garbled: float
    incidents_an_hour: float
    disorder_ticks: int

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Settings":
        """Read the options of a source."""
        given = _Given(options)
        given.check_kind()
        sensors, lanes = given.whole("sensors", 2, 100_000), given.whole("lanes", 1, MOST_LANES)
        period_us = given.span("sample_period", 1_000, 10 * MICROS["MINUTE"])
        return cls(
            sensors=sensors,
            lanes=lanes,
            period_us=period_us,
            seed=given.whole("seed", 0, 2**63 - 1),
            start_us=given.moment("start_time"),
            ticks=-(-given.span("duration", 1, 3_650 * MICROS["DAY"]) // period_us) if given.has("duration") else None,
            speedup=given.speedup(sensors * lanes, period_us),
            missing=given.number("missing", 0, 1),
            garbled=given.number("garbled", 0, 1),
            incidents_an_hour=given.number("incidents", 0, MOST_AN_HOUR),
            disorder_ticks=given.span("disorder", 0, MICROS["HOUR"]) // period_us,
        )


class _Given:
    """The options as the user gave them, over the defaults."""

    def __init__(self, options: Mapping[str, str]) -> None:
        for name in options:
            if name not in DEFAULTS:
                raise OptionError(f"unknown option {name!r} of connector 'sim'; it has {', '.join(sorted(DEFAULTS))}")
        self._values = {**DEFAULTS, **options}

    def has(self, name: str) -> bool:
        return self._values[name] != ""

    def check_kind(self) -> None:
        if self._values["kind"] != "traffic":
            raise self._wrong("kind", "must be 'traffic', the only kind there is")

    def whole(self, name: str, least: int, most: int) -> int:
        text = self._values[name]
        if not re.fullmatch(r"\d{1,19}", text) or not least <= int(text) <= most:
            raise self._wrong(name, f"must be a whole number from {least} to {most}")
        return int(text)

    def number(self, name: str, least: float, most: float) -> float:
        text = self._values[name]
        if not re.fullmatch(r"\d+(\.\d*)?(e-?\d+)?", text) or not least <= float(text) <= most:
            raise self._wrong(name, f"must be a number from {least:g} to {most:g}")
        return float(text)

    def span(self, name: str, least_us: int, most_us: int) -> int:
        span_us = span(self._values[name])
        if span_us is None or not least_us <= span_us <= most_us:
            limits = f"from {show_span(least_us)} to {show_span(most_us)}"
            raise self._wrong(name, f"must be a span of time such as '250ms', '1s' or '10min', {limits}")
        return span_us

    def moment(self, name: str) -> Micros:
        try:
            moment = datetime.fromisoformat(self._values[name])
        except ValueError:
            raise self._wrong(name, "must be a time such as '2000-06-05 06:00:00'") from None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return Micros((aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))

    def speedup(self, readings_a_tick: int, period_us: int) -> float:
        """Say how fast to play, from either way of asking for it."""
        if self.has("rate") and self.has("speedup"):
            raise self._wrong("rate", "and speedup say the same thing: give one of the two")
        if self.has("rate"):
            return self.number("rate", 1e-3, 1e12) * period_us / 1e6 / readings_a_tick
        return self.number("speedup", 1e-3, 1e9) if self.has("speedup") else 1.0

    def _wrong(self, name: str, needs: str) -> OptionError:
        return OptionError(f"option {name} of connector 'sim' {needs}; got {self._values[name]!r}")
