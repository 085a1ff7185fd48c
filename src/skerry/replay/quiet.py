"""Live sources that are quiet: how far event time has gone on without them."""

from collections.abc import Callable, Iterable, Mapping

from skerry.catalog import Source
from skerry.model.time import MICROS, START_OF_TIME, Micros

__all__ = ["QuietSources"]

_BEAT_US = MICROS["SECOND"]
"""While a source is quiet, time goes on in steps of so much, or of its timeout if that is less."""


class QuietSources:
    """Notes when each live source with an ``idle_timeout`` handed something over last.

    When it was quiet for its timeout, event time goes on from its last reading as the clock does. So windows close, and
    sensors fall silent, though nothing arrives. What is found goes into the position, which is logged: a restart sees
    the same, and goes on from there.

    >>> from itertools import count
    >>> source = Source("m", None, "mqtt", idle_timeout_us=Micros(2_000_000))
    >>> quiet = QuietSources([source], {"m": 1.0}, map(float, count()).__next__)
    >>> quiet.note({"m": Micros(7)}, moved=["m"])
    >>> quiet.find({"m": Micros(7)}), quiet.find({"m": Micros(7)}), quiet.find({"m": Micros(7)})
    ({}, {}, {'m': 3000007})
    """

    def __init__(self, sources: Iterable[Source], speeds: Mapping[str, float], clock: Callable[[], float]) -> None:
        self._timeouts = {source.name: source.idle_timeout_us for source in sources if source.idle_timeout_us}
        self._speeds, self._clock = speeds, clock
        self._last: dict[str, tuple[float, Micros]] = {}

    def note(self, until: Mapping[str, Micros], moved: Iterable[str]) -> None:
        """Note which sources had something, and how far they have come with it."""
        now = self._clock() if self._timeouts else 0.0
        for name in self._timeouts:
            if name in moved or name not in self._last:
                self._last[name] = now, until.get(name, START_OF_TIME)

    def is_idle(self, name: str) -> bool:
        """Whether a source is quiet for its timeout."""
        return name in self._last and self._measure(name) > self._timeouts[name]

    def find(self, until: Mapping[str, Micros]) -> dict[str, Micros]:
        """How far event time has come without the sources that are idle, where that is farther than they had come."""
        found = {}
        for name, timeout_us in self._timeouts.items():
            come, (_, heard) = until.get(name, START_OF_TIME), self._last.get(name, (0.0, START_OF_TIME))
            quiet_us = self._measure(name) if heard > START_OF_TIME else 0
            on = Micros(heard + round(quiet_us * self._speeds.get(name, 1.0)))
            if quiet_us > timeout_us and on - come >= min(_BEAT_US, timeout_us):
                found[name] = on
        return found

    def _measure(self, name: str) -> int:
        """For how long a source has been quiet, in microseconds."""
        return round((self._clock() - self._last[name][0]) * MICROS["SECOND"])
