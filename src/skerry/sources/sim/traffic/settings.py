"""The options of simulated traffic."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skerry.errors import OptionError
from skerry.model.options import Option, moment, number, parse_options, span_of_time, whole_number
from skerry.model.time import MICROS, Micros
from skerry.sources.sim.kind import KIND, SIM
from skerry.sources.sim.traffic.incidents import MOST_PER_HOUR
from skerry.sources.sim.traffic.vehicles import MOST_ROAD_LANES

__all__ = ["TRAFFIC_OPTIONS", "Settings"]

TRAFFIC_OPTIONS = (
    KIND,
    Option("sensors", whole_number(2, 100_000), "32", "How many stations."),
    Option("lanes", whole_number(1, MOST_ROAD_LANES), "4", "Road lanes per side."),
    Option("sample_period", span_of_time(1_000, 10 * MICROS["MINUTE"]), "1s", "How often a loop reports."),
    Option("seed", whole_number(0, 2**63 - 1), "1", "Another seed is another road."),
    Option("start_time", moment(), "2000-06-05 06:00:00", "When the first sample period begins."),
    Option("duration", span_of_time(1, 3_650 * MICROS["DAY"]), help="Without it the source is live."),
    Option("rate", number(1e-3, 1e12), help="Live: readings per second over all stations."),
    Option("speedup", number(1e-3, 1e9), help="Live: seconds of the road's time per second."),
    Option("missing", number(0, 1), "0.01", "Fraction of readings that never arrive."),
    Option("garbled", number(0, 1), "0.001", "Fraction of the others that arrive broken."),
    Option("incidents", number(0, MOST_PER_HOUR), "2", "Incidents per hour on the whole road."),
    Option("disorder", span_of_time(0, MICROS["HOUR"]), "0s", "How late a reading may arrive."),
)


@dataclass(frozen=True)
class Settings:
    """What is simulated, and how fast a live source plays it: ``speedup`` seconds of the road a second.

    ``periods`` is how often each loop is sampled, None for a live source; ``disorder_periods`` is by how
    many periods a reading may be late.

    >>> Settings.parse({"sample_period": "250ms", "duration": "1min"}).periods
    240
    >>> Settings.parse({"rate": "1280"}).speedup
    10.0
    >>> Settings.parse({"speed": "60"})
    Traceback (most recent call last):
    ...
    skerry.errors.OptionError: unknown option 'speed' of connector 'sim'; it has disorder, duration, ...
    """

    sensors: int
    road_lanes: int
    period_us: int
    seed: int
    start_us: Micros
    periods: int | None
    speedup: float
    missing: float
    garbled: float
    incidents_per_hour: float
    disorder_periods: int

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Settings":
        """Read the options of a source."""
        given = parse_options(options, TRAFFIC_OPTIONS, SIM)
        period_us = given["sample_period"]
        return cls(
            sensors=given["sensors"],
            road_lanes=given["lanes"],
            period_us=period_us,
            seed=given["seed"],
            start_us=given["start_time"],
            periods=None if given["duration"] is None else -(-given["duration"] // period_us),
            speedup=_speedup(given, options),
            missing=given["missing"],
            garbled=given["garbled"],
            incidents_per_hour=given["incidents"],
            disorder_periods=given["disorder"] // period_us,
        )


def _speedup(given: Mapping[str, Any], options: Mapping[str, str]) -> float:
    """Say how fast to play, from either way of asking for it."""
    rate, speedup = given["rate"], given["speedup"]
    if rate is not None and speedup is not None:
        conflict = "option rate of connector 'sim' and speedup say the same thing: give one of the two"
        raise OptionError(f"{conflict}; got {options['rate']!r}")
    if rate is not None:
        readings_per_period = given["sensors"] * given["lanes"]
        return float(rate * given["sample_period"] / 1e6 / readings_per_period)
    return 1.0 if speedup is None else float(speedup)
