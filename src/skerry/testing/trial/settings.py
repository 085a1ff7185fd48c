"""How large a trial is, how long it lasts, and what breaks in it."""

from dataclasses import dataclass
from pathlib import Path

from skerry.errors import OptionError

__all__ = ["TrialSettings"]

_LEAST_SENSORS, _LEAST_QUERIES, _LEAST_SECONDS = 16, 12, 10.0


@dataclass(frozen=True)
class TrialSettings:
    """A trial: how many sensors and queries, for how long, on which runtime.

    ``delay_s`` is that of the sources' watermarks: it has to cover the time in which the broker is away, since what was
    not acknowledged then is sent later. ``dying`` is how many sensors die and come back, about. ``away_s`` is for how
    long the driver and then the broker stay down, beyond the time that they take to start.

    >>> TrialSettings(sensors=40, queries=30, seconds=20.0).kinds
    {'traffic': 20, 'air': 10, 'soil': 5, 'vibration': 5}
    """

    sensors: int = 200
    queries: int = 100
    seconds: float = 60.0
    runtime: str = "spark"
    seed: int = 1
    dying: int | None = None
    """A twentieth of the sensors, if it is None."""
    listens_ms: float = 50.0
    delay_s: int = 20
    away_s: float = 1.0
    duplicate: float = 0.01
    reorder: float = 0.01
    rate: float | None = None
    """Samples per second of each sensor; None is what its kind has."""
    master: str = "local[*]"
    folder: Path | None = None
    """Where all is kept; None is a folder that is removed at the end."""

    def __post_init__(self) -> None:
        """Refuse what is too small to say anything."""
        for name, value, least in (
            ("sensors", self.sensors, _LEAST_SENSORS),
            ("queries", self.queries, _LEAST_QUERIES),
            ("seconds", self.seconds, _LEAST_SECONDS),
        ):
            if not value >= least:
                raise OptionError(f"a trial has {least:g} {name} at the least; got {value:g}")

    @property
    def kinds(self) -> dict[str, int]:
        """How many sensors of which kind: half are traffic loops, a quarter measures air."""
        few = self.sensors // 8
        return {"traffic": self.sensors - 4 * few, "air": 2 * few, "soil": few, "vibration": few}

    @property
    def used(self) -> dict[str, int]:
        """How many sensors of each kind queries name: three quarters, the first ones, and no vibration at all.

        >>> TrialSettings(sensors=40).used
        {'traffic': 15, 'air': 7, 'soil': 3}
        """
        return {kind: count * 3 // 4 for kind, count in self.kinds.items() if kind != "vibration"}

    @property
    def dying_share(self) -> float:
        """The share of sensors that die."""
        return min(1.0, (self.sensors // 20 if self.dying is None else self.dying) / self.sensors)
