"""Watches what a sensor sends, in little memory however long: counts by setting, and a thinned sample of values."""

import json
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skerry.model.arrays import Float64s
from skerry.model.time import MICROS, Micros
from skerry.sensors.messages import SensorState, Setting
from skerry.sensors.seen import Seen, Stretch, Values

__all__ = ["Watch", "read_readings"]

_MOST_STRETCHES = 3
_MOST_PAIRS = 256
_KEPT_VALUES = 128
_MOST_COLUMNS = 256
_LARGEST = 1e150
"""Far from where a sum of values is no number any more."""
_NO_VALUES = ("ts", "seq")
_LONGEST_GAP_US = MICROS["MINUTE"]
"""A sensor that was not heard for longer was away: that time counts for nothing."""


def read_readings(payload: bytes) -> list[dict[str, Any]]:
    """The readings of a message: one object, a list of them, or a list under ``readings``; none if it is garbled.

    >>> read_readings(b'{"readings": [{"x": 1}], "seq": 7}'), read_readings(b"?")
    ([{'x': 1}], [])
    """
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return []
    if isinstance(found, dict):
        found = found.get("readings", [found])
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


@dataclass
class _Column:
    """Pairs of a value and the next one, one of every so many, drawn: when there are too many, every other pair goes.

    Drawn, for a signal that swings would be met in the same phase again and again at equal distances.
    """

    pairs: "array[float]" = field(default_factory=lambda: array("d"))
    every: int = 1
    offered: int = 0
    filled: int = 0
    total: float = 0.0
    before: float | None = None
    chosen: int = 0
    drawn: int = 1

    def add(self, value: Any) -> None:
        """Take a reading's value; None, and what is no number that can be added up, is no value."""
        self.offered += 1
        number = float(value) if isinstance(value, int | float) and -_LARGEST < value < _LARGEST else None
        if number is not None:
            self.filled, self.total = self.filled + 1, self.total + number
            within = self.filled % self.every
            if within == 0:
                self._draw()
            if self.before is not None and within == self.chosen:
                self._keep(self.before, number)
        self.before = number if number is not None else self.before

    def _keep(self, before: float, number: float) -> None:
        self.pairs.extend((before, number))
        if len(self.pairs) > 2 * _MOST_PAIRS:
            self.pairs = array("d", np.array(self.pairs).reshape(-1, 2)[1::2].ravel().tolist())
            self.every *= 2
            self._draw()

    def _draw(self) -> None:
        """Choose which of the next readings is kept, by Lehmer's generator: it needs no memory to speak of."""
        self.drawn = self.drawn * 48_271 % 2_147_483_647
        self.chosen = self.drawn % self.every

    def describe(self) -> Values:
        """What is known of the column."""
        pairs = np.array(self.pairs).reshape(-1, 2)
        found = np.sort(pairs[:, 1])
        sample = found[np.linspace(0, found.size - 1, min(found.size, _KEPT_VALUES)).round().astype(int)]
        mean = self.total / self.filled if self.filled else 0.0
        return Values(tuple(sample.tolist()), self.filled / max(self.offered, 1), mean, _find_steadiness(pairs))


def _find_steadiness(pairs: Float64s) -> float:
    """The correlation of the ranks of values and of those before them, from 0 on."""
    if len(pairs) < 3:
        return 0.0
    before, after = (np.searchsorted(np.sort(pairs[:, side]), pairs[:, side]).astype(float) for side in (0, 1))
    if before.std() == 0.0 or after.std() == 0.0:
        return 0.0
    return float(np.clip(np.corrcoef(before, after)[0, 1], 0.0, 1.0))


@dataclass
class _Counts:
    """What came under one setting."""

    setting: Setting
    span_us: int = 0
    readings: int = 0
    messages: int = 0
    states: int = 0
    columns: dict[str, _Column] = field(default_factory=dict)

    def add(self, readings: Sequence[Mapping[str, Any]]) -> None:
        self.messages += 1
        self.readings += len(readings)
        for reading in readings:
            for name, value in reading.items():
                if name not in _NO_VALUES and not isinstance(value, str | list | dict):
                    self._find(name).add(value)

    def _find(self, name: str) -> _Column:
        """What is known of a column. Names come from outside: of too many, the last ones are looked at, not kept."""
        if name in self.columns or len(self.columns) < _MOST_COLUMNS:
            return self.columns.setdefault(name, _Column())
        return _Column()

    def describe(self) -> Stretch:
        values = {name: column.describe() for name, column in self.columns.items() if column.filled}
        counts = (self.span_us / MICROS["SECOND"], self.readings, self.messages, self.states)
        return Stretch(self.setting, *counts, values)


class Watch:
    """What was seen of one sensor, noted in one thread and perhaps asked for in another.

    State: counts of the last few settings that it had.

    >>> watch, raw = Watch(), SensorState(Setting("raw", Micros(1_000_000)))
    >>> watch.note_state(Micros(0), raw)
    >>> for second in range(1, 5):
    ...     watch.note_readings(Micros(second * 1_000_000), [{"speed": 10.0 * second}])
    >>> stretch = watch.describe().stretches[0]
    >>> stretch.readings_hz, stretch.values["speed"].mean
    (1.0, 25.0)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, _Counts] = {}
        self._current: _Counts | None = None
        self._heard_us: Micros | None = None
        self._built_period_us: Micros | None = None
        self._listens_us = Seen().listens_us

    def note_state(self, now: Micros, state: SensorState) -> None:
        """The sensor has said how it is. Time until now belongs to the setting that it had."""
        with self._lock:
            self._pass(now)
            if state.control == 0:
                self._built_period_us = state.setting.sample_period_us
            self._listens_us = Micros(round(state.listens_ms * MICROS["MILLISECOND"]))
            self._use(state.setting).states += 1

    def note_readings(self, now: Micros, readings: Sequence[Mapping[str, Any]]) -> None:
        """Readings have come. As long as nobody knows under which setting, they are not counted."""
        with self._lock:
            self._pass(now)
            if self._current is not None:
                self._current.add(readings)

    def describe(self) -> Seen:
        """All that was seen, the last setting first."""
        with self._lock:
            found = [self._counts[key].describe() for key in reversed(self._counts)]
            return Seen(tuple(found), self._built_period_us, self._listens_us)

    def _pass(self, now: Micros) -> None:
        if self._current and self._heard_us is not None and 0 < now - self._heard_us <= _LONGEST_GAP_US:
            self._current.span_us += now - self._heard_us
        self._heard_us = now

    def _use(self, setting: Setting) -> _Counts:
        """Count under a setting from now on; of too many, the one that was left first goes."""
        key = json.dumps(setting.to_json(), sort_keys=True)
        self._current = self._counts.pop(key) if key in self._counts else _Counts(setting)
        self._counts[key] = self._current
        while len(self._counts) > _MOST_STRETCHES:
            del self._counts[next(iter(self._counts))]
        return self._current
