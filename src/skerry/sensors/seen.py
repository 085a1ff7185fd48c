"""What was seen of a sensor's readings: how many came under which setting, and which values they had.

That is what the cost of a setting is reckoned from: a range lets some share of readings pass, and no other way leads to
that share than to have seen readings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sensors.messages import Ranges, Setting

__all__ = ["Seen", "Stretch", "Values", "is_within"]


def is_within(value: float, spans: Ranges) -> bool:
    """Whether a value is in one of some intervals, with both ends in.

    >>> is_within(30.0, ((None, 10.0), (30.0, None)))
    True
    """
    return any((low is None or low <= value) and (high is None or value <= high) for low, high in spans)


@dataclass(frozen=True)
class Values:
    """The values of a column: a sorted sample, the share of readings that have one, their mean.

    ``steadiness`` is about how surely a value is near the one before: 0 if they have nothing to do with each other, 1
    if they hardly change.

    >>> Values((1.0, 2.0, 3.0, 4.0), filled=0.5).count_passing(((None, 1.5),))
    0.625
    """

    sample: tuple[float, ...]
    filled: float = 1.0
    mean: float = 0.0
    steadiness: float = 0.0

    def count_passing(self, spans: Ranges) -> float:
        """The share of readings that intervals let pass. A reading without a value passes always."""
        if not self.sample:
            return 1.0
        inside = sum(is_within(value, spans) for value in self.sample) / len(self.sample)
        return 1.0 - self.filled * (1.0 - inside)

    def to_json(self) -> list[Any]:
        """As it is kept: few digits are enough."""
        return [
            [_shorten(value) for value in self.sample],
            *(_shorten(each) for each in (self.filled, self.mean, self.steadiness)),
        ]

    @classmethod
    def from_json(cls, found: Sequence[Any]) -> "Values":
        """As it was kept."""
        sample, filled, mean, steadiness = found
        return cls(tuple(sample), filled, mean, steadiness)


@dataclass(frozen=True)
class Stretch:
    """What came while a sensor had one setting, all times together in which it had it."""

    setting: Setting
    seconds: float
    readings: int
    messages: int
    """Those with readings."""
    states: int
    values: Mapping[str, Values] = field(default_factory=dict)

    @property
    def readings_hz(self) -> float:
        """Readings per second."""
        return self.readings / self.seconds if self.seconds else 0.0

    def lets_all_pass(self, ranges: Mapping[str, Ranges]) -> bool:
        """Whether everything that passes some ranges was let pass here too, so that it was seen."""
        return all(
            column in ranges and all(_is_inside(span, own) for span in ranges[column])
            for column, own in self.setting.ranges.items()
        )

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        counts = [_shorten(self.seconds), self.readings, self.messages, self.states]
        values = {name: each.to_json() for name, each in self.values.items()}
        return {"setting": self.setting.to_json(), "counts": counts, "values": values}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Stretch":
        """As it was kept."""
        values = {name: Values.from_json(each) for name, each in found["values"].items()}
        seconds, readings, messages, states = found["counts"]
        return cls(Setting.from_json(found["setting"]), seconds, readings, messages, states, values)


@dataclass(frozen=True)
class Seen:
    """Stretches of a sensor, the last one first; how often it samples as it was built, where that was seen."""

    stretches: tuple[Stretch, ...] = ()
    built_period_us: Micros | None = None
    listens_us: Micros = Micros(50 * MICROS["MILLISECOND"])  # noqa: RUF009

    def to_json(self) -> dict[str, Any]:
        """As it is kept in the catalogue."""
        return {
            "stretches": [stretch.to_json() for stretch in self.stretches],
            "built_period_us": self.built_period_us,
            "listens_us": self.listens_us,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> "Seen":
        """As it was kept."""
        stretches = tuple(Stretch.from_json(each) for each in found["stretches"])
        return cls(stretches, found["built_period_us"], Micros(found["listens_us"]))


def _is_inside(span: tuple[float | None, float | None], spans: Ranges) -> bool:
    low, high = span
    return any(
        (own_low is None or (low is not None and own_low <= low))
        and (own_high is None or (high is not None and high <= own_high))
        for own_low, own_high in spans
    )


def _shorten(value: float) -> float:
    return float(f"{value:.6g}")
