"""Which column is the event time, and in what form; how often sensors measure; which number counts their messages."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from skerry.model.time import MICROS, Micros
from skerry.sensors.discover.columns import read_time_text

__all__ = ["EventTime", "find_event_time", "find_sequence", "guess_delay", "guess_period", "list_clocks_ahead"]

UNITS_US = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}
_EARLIEST_US, _LATEST_US = 631_152_000_000_000, 4_102_444_800_000_000
"""The years 1990 to 2100: in these, numbers of seconds, milliseconds, microseconds and nanoseconds never meet."""
_NAMES = ("ts", "time", "timestamp", "event_time", "datetime", "date", "t", "at", "when", "measured_at", "sampled_at")
_MOST = 0.8
"""What share of the values must fit: sensors send garbage too."""
_MANY = 0.65
"""The same for what messages that come twice, late or never disturb."""
_NEAR_US = MICROS["DAY"]
_SEQUENCES = ("seq", "sequence", "sequence_number", "seq_no", "seqno", "counter", "msg_id", "message_id", "fcnt", "n")
_DELAYS_S = (5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)

Values = Sequence[tuple[str, Micros, Mapping[str, Any]]]
"""Readings in the order of arrival: the sensor, when it arrived, what it says."""


@dataclass(frozen=True)
class EventTime:
    """A column with times: texts if ``unit`` is None, else numbers since 1970."""

    name: str
    unit: str | None = None

    def read(self, values: Mapping[str, Any]) -> Micros | None:
        """When a reading was measured, if it says so."""
        value = values.get(self.name)
        if self.unit is None:
            return read_time_text(value)
        return _read_number(value, self.unit)


def find_event_time(names: Sequence[str], readings: Values) -> EventTime | None:
    """The column that looks most like a time: by its name, then by how near it is to the time of arrival.

    >>> find_event_time(["n", "t"], [("a", Micros(0), {"n": 7, "t": 1_700_000_000_000})])
    EventTime(name='t', unit='ms')
    """
    ranked = []
    for order, name in enumerate(names):
        for unit in (None, *UNITS_US):
            found = EventTime(name, unit)
            times = [(at, found.read(values)) for _, at, values in readings if values.get(name) is not None]
            known = [(at, moment) for at, moment in times if moment is not None]
            if times and len(known) >= _MOST * len(times):
                near = statistics.median(abs(at - moment) for at, moment in known) < _NEAR_US
                ranked.append((not _is_named(name, _NAMES), not near, order, found))
    fit = [each for each in ranked if not each[0] or not each[1] or each[3].unit is None]
    return min(fit, key=lambda each: each[:3])[3] if fit else None


def find_sequence(names: Sequence[str], readings: Values) -> str | None:
    """The whole number that grows by one from message to message of a sensor; with few messages, the one named so.

    Some messages come twice, in another order or not at all: most values differ, most follow upon another when they
    are sorted, and most are greater than the one that came before.
    """
    for name in sorted(names, key=lambda each: not _is_named(each, _SEQUENCES)):
        series = [values for values in _list_by_sensor(readings, name).values() if len(values) > 1]
        steps = [after - before for values in series for before, after in pairwise(values)]
        sorted_steps = [after - before for values in series for before, after in pairwise(sorted(set(values)))]
        if not steps and _is_named(name, _SEQUENCES):
            return name
        is_dense = sorted_steps and sum(step == 1 for step in sorted_steps) >= _MANY * len(sorted_steps)
        if (
            is_dense
            and len(sorted_steps) >= _MANY * len(steps)
            and sum(step > 0 for step in steps) >= _MANY * len(steps)
        ):
            return name
    return None


def guess_period(moments: Sequence[Micros]) -> Micros | None:
    """How often a sensor measures: the middle of the spans between its readings, as a person would write it."""
    spans = [after - before for before, after in pairwise(sorted(set(moments)))]
    if not spans:
        return None
    middle = statistics.median(spans)
    digits = 10 ** max(0, len(str(round(middle))) - 2)
    return Micros(max(1, round(middle / digits) * digits))


def guess_delay(readings: Sequence[tuple[str, Micros, Micros]]) -> Micros:
    """How far readings may be behind: twice what nearly all were, in the order of their arrival, and 5 s at least.

    A reading has a sensor, a time of arrival and an event time. Sensors whose clock is a minute or more away from that
    of most others are left out: one that is ahead would make all others look late.
    """
    newest, behind = -(2**62), []
    wrong = _find_wrong_clocks(readings)
    for sensor, _, moment in readings:
        if sensor not in wrong:
            newest = max(newest, moment)
            behind.append(newest - moment)
    worst = sorted(behind)[round(0.99 * (len(behind) - 1))] if behind else 0
    wanted = 2 * worst / MICROS["SECOND"]
    return Micros(next((each for each in _DELAYS_S if each >= wanted), _DELAYS_S[-1]) * MICROS["SECOND"])


def list_clocks_ahead(readings: Sequence[tuple[str, Micros, Micros]]) -> list[str]:
    """The sensors whose readings are a minute or more ahead of a clock by which this machine and most sensors go."""
    ages = _find_ages(readings)
    usual = statistics.median(ages.values()) if ages else 0
    if abs(usual) >= MICROS["MINUTE"]:
        return []
    return sorted(sensor for sensor, age in ages.items() if age <= -MICROS["MINUTE"])


def _find_wrong_clocks(readings: Sequence[tuple[str, Micros, Micros]]) -> set[str]:
    """The sensors whose readings are much older, or newer, when they arrive than those of most sensors."""
    ages = _find_ages(readings)
    usual = statistics.median(ages.values()) if ages else 0
    return {sensor for sensor, age in ages.items() if abs(age - usual) >= MICROS["MINUTE"]}


def _find_ages(readings: Sequence[tuple[str, Micros, Micros]]) -> dict[str, float]:
    """How old the readings of each sensor are when they arrive; nothing, if it is not known when they did."""
    if len({at for _, at, _ in readings}) < 2:
        return {}
    ages: dict[str, list[int]] = {}
    for sensor, at, moment in readings:
        ages.setdefault(sensor, []).append(at - moment)
    return {sensor: statistics.median(each) for sensor, each in ages.items()}


def _list_by_sensor(readings: Values, name: str) -> dict[str, list[int]]:
    """The whole numbers of a column in the order of arrival, sensor by sensor."""
    found: dict[str, list[int]] = {}
    for sensor, _, values in readings:
        if type(value := values.get(name)) is int:
            found.setdefault(sensor, []).append(value)
    return found


def _is_named(name: str, known: Sequence[str]) -> bool:
    bare = name.lower()
    return bare in known or any(bare == f"{each}_{unit}" for each in known for unit in UNITS_US)


def _read_number(value: object, unit: str) -> Micros | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    moment = value * UNITS_US[unit] if abs(value) < 2**63 else 0.0
    return Micros(round(moment)) if _EARLIEST_US <= moment <= _LATEST_US else None
