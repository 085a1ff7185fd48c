"""How often sensors are to sample for a view, and how long their batteries are to last.

The word for the second is ``battery_lifetime``; ``lifetime`` alone is understood in SQL as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from skerry.model.options import Option, Owner, parse_options, span_of_time
from skerry.model.time import MICROS, Micros

__all__ = ["BATTERY_LIFETIME", "SAMPLE_PERIOD", "SAMPLING_OPTIONS", "Sampling"]

SAMPLE_PERIOD = Option(
    "sample_period", span_of_time(100, 366 * MICROS["DAY"]), help="How often sensors sample, at the least."
)
BATTERY_LIFETIME = Option(
    "battery_lifetime", span_of_time(MICROS["HOUR"], 36_500 * MICROS["DAY"]), help="How long batteries must last."
)
SAMPLING_OPTIONS = (SAMPLE_PERIOD, BATTERY_LIFETIME)


@dataclass(frozen=True)
class Sampling:
    """What a view asks of the sensors behind it, beside readings; None where it does not say."""

    period_us: Micros | None = None
    lifetime_us: Micros | None = None

    @classmethod
    def parse(cls, options: Mapping[str, str], owner: Owner) -> "Sampling":
        """Read it from all options of a view or source.

        >>> Sampling.parse({"emit": "final", "sample_period": "250ms"}, Owner("view 'v'"))
        Sampling(period_us=250000, lifetime_us=None)
        """
        given = {option.name: options[option.name] for option in SAMPLING_OPTIONS if option.name in options}
        found = parse_options(given, SAMPLING_OPTIONS, owner)
        return cls(found[SAMPLE_PERIOD.name], found[BATTERY_LIFETIME.name])
