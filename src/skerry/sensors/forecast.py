"""What a setting will cost a sensor: everything that its battery pays for, by what was seen of its readings.

A forecast counts samples, cycles, the bits of the columns of those readings that ranges let pass, states, looks in, and
listening. How many readings pass is known, in this order, from

- the same setting, if the sensor has had it for a minute: then what came is counted;
- values that were seen under another setting;
- nothing: then all of them are reckoned with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import prod

from skerry.model.time import MICROS, Micros
from skerry.sensors.habits import Habits
from skerry.sensors.messages import Ranges, Setting
from skerry.sensors.power import Power, PowerModel, Usage
from skerry.sensors.program import Program
from skerry.sensors.seen import Seen, Stretch
from skerry.sensors.speaking import Passing, Speaking, count_asleep, count_speaking

__all__ = ["Basis", "Forecast", "Forecaster"]

_LONG_ENOUGH_S = 60.0
_A_DAY_S, _LIKE = 0.95 * 86_400.0, 0.1


class Basis(StrEnum):
    """Where it is known from how many readings a sensor will send."""

    COUNTED = "counted"
    """The sensor has had the setting, and what came was counted."""
    SEEN = "seen"
    """By the values that came under another setting."""
    REGULAR = "regular"
    """It follows from the setting: all readings pass."""
    UNKNOWN = "unknown"
    """Nothing was seen: it is the most that there can be."""


@dataclass(frozen=True)
class Forecast:
    """Mean power, where it is known from, and between which values it lies if more or fewer readings pass."""

    power: Power
    basis: Basis
    least_mw: float
    most_mw: float
    passing: float = 1.0
    seen_s: float = 0.0
    """How long readings were seen for."""

    @property
    def total_mw(self) -> float:
        """All components together."""
        return self.power.total_mw


@dataclass(frozen=True)
class _Share:
    """The share of readings that pass: as it is reckoned, the least and the most that it may be."""

    passing: Passing
    least: float
    most: float

    def list_possible(self) -> list[Passing]:
        """First as it is reckoned, then from the least to the most: between them more is not always dearer.

        A sensor that sends little looks in less often than one that sends nothing.
        """
        shares = {self.least + (self.most - self.least) * step / 4 for step in range(5)}
        return [self.passing, *(Passing(share) for share in sorted(shares))]


class Forecaster:
    """Reckons with a power model and habits; ``listens_us`` is each sensor's own, where it was seen.

    >>> raw = Program("raw", ("sensor", "ts", "signal"), bits=16)
    >>> found = Forecaster().forecast(raw, Setting("raw", Micros(1_000_000)), Seen())
    >>> found.basis, round(found.total_mw, 3), round(Forecaster().forecast_asleep(Seen()).total_mw, 3)
    (<Basis.REGULAR: 'regular'>, 0.102, 0.064)
    """

    def __init__(self, model: PowerModel | None = None, habits: Habits | None = None) -> None:
        self.model, self._habits = model or PowerModel(), habits or Habits()

    def forecast_asleep(self, seen: Seen) -> Forecast:
        """What a sensor takes that sleeps, and looks in."""
        habits = replace(self._habits, listens_us=seen.listens_us)
        speaking = count_asleep(habits)
        listening = _count_listening(habits, speaking, speaking.states_hz)
        power = self.model.sleeping_power(
            Micros(habits.silent_turns * habits.publish_every_us), habits.state_bits, listening
        )
        return Forecast(power, Basis.REGULAR, power.total_mw, power.total_mw)

    def forecast(self, program: Program, setting: Setting, seen: Seen, usual_us: Micros | None = None) -> Forecast:
        """What a sensor takes that runs a program with a setting. An ``OptionError`` says that it cannot."""
        period_us = setting.sample_period_us or seen.built_period_us or usual_us or Micros(MICROS["SECOND"])
        sample_hz = MICROS["SECOND"] / period_us
        counted = _find_same(seen, replace(setting, program=program.name, sample_period_us=period_us))
        if counted is not None:
            speaking = Speaking(
                counted.readings_hz, counted.messages / counted.seconds, counted.states / counted.seconds
            )
            power = self._price(program, sample_hz, setting, speaking, seen)
            usual_hz = program.count_readings(sample_hz)
            passing = min(counted.readings_hz / usual_hz, 1.0) if usual_hz else 1.0
            return Forecast(power, Basis.COUNTED, power.total_mw, power.total_mw, passing, counted.seconds)
        return self._reckon(program, sample_hz, setting, seen)

    def _reckon(self, program: Program, sample_hz: float, setting: Setting, seen: Seen) -> Forecast:
        """By the values that came under other settings, as far as any did."""
        events_hz, events_s = _count_events(program, seen)
        readings_hz = program.count_readings(sample_hz) if events_hz is None else events_hz
        stretch = _find_widest(seen, setting.ranges)
        share = _find_share(stretch, setting.ranges, program)
        powers = []
        for passing in share.list_possible():
            speaking = count_speaking(
                replace(self._habits, listens_us=seen.listens_us),
                readings_hz,
                passing,
                is_regular=program.counted_in is None,
            )
            powers.append(self._price(program, sample_hz, setting, speaking, seen))
        totals = [power.total_mw for power in powers]
        is_open = program.counted_in is not None and events_hz is None
        if is_open:
            totals.append(self._price(program, sample_hz, setting, count_asleep(self._habits), seen).total_mw)
        basis = _choose_basis(setting, stretch, is_open=is_open, has_events=events_hz is not None)
        seen_s = stretch.seconds if stretch and setting.ranges else events_s
        if basis is Basis.SEEN:
            full_hz = program.count_readings(sample_hz)
            possible = [count_speaking(self._habits, full_hz, Passing(step / 4)) for step in range(5)]
            prices = [self._price(program, sample_hz, setting, each, seen).total_mw for each in possible]
            totals = _widen(totals, prices, seen_s)
        return Forecast(powers[0], basis, min(totals), max(totals), share.passing.share, seen_s)

    def _price(self, program: Program, sample_hz: float, setting: Setting, speaking: Speaking, seen: Seen) -> Power:
        """What speaking so often costs, with the samples behind it."""
        habits = replace(self._habits, listens_us=seen.listens_us)
        most_hz = program.count_readings(sample_hz)
        columns = None if setting.columns is None else ("sensor", "ts", *setting.columns)
        sent = min(speaking.readings_hz / most_hz, 1.0) if most_hz else 0.0
        looks_hz = max(speaking.states_hz - MICROS["SECOND"] / habits.state_every_us, 0.0)
        listening = _count_listening(habits, speaking, looks_hz)
        power = self.model.power(program, sample_hz, Usage(columns, sent, listening))
        states_mw = self.model.radio_uj_per_bit / 1000.0 * habits.state_bits * speaking.states_hz
        return replace(power, radio_mw=power.radio_mw + states_mw)


def _widen(totals: list[float], possible: list[float], seen_s: float) -> list[float]:
    """What the power may be in time to come: a day is like the one before to a tenth, less than a day tells nothing.

    ``possible`` are the powers from no reading passing to all of them.
    """
    if seen_s < _A_DAY_S:
        return [*totals, *possible]
    low, high = min(totals) * (1.0 - _LIKE), max(totals) * (1.0 + _LIKE)
    return [*totals, max(low, min(possible)), min(high, max(possible))]


def _count_listening(habits: Habits, speaking: Speaking, looks_hz: float) -> float:
    """The share of time. A state beside a message opens no window of its own."""
    return min((speaking.messages_hz + looks_hz) * habits.listens_us / MICROS["SECOND"], 1.0)


def _find_same(seen: Seen, setting: Setting) -> Stretch | None:
    """What came under a setting of the same readings; which columns of them were sent does not matter."""
    for stretch in seen.stretches:
        own = stretch.setting
        if replace(own, columns=setting.columns) == setting and stretch.seconds >= _LONG_ENOUGH_S:
            return stretch
    return None


def _find_widest(seen: Seen, ranges: Mapping[str, Ranges]) -> Stretch | None:
    """Of those with values of the columns that ranges bound, one that has left out nothing of them, or the longest."""
    known = [each for each in seen.stretches if each.readings and any(name in each.values for name in ranges)]
    return max(known, key=lambda each: (each.lets_all_pass(ranges), each.seconds), default=None)


def _count_full(stretch: Stretch, program: Program) -> float:
    """How many readings per second a stretch would have had without ranges, as far as that is known."""
    if stretch.setting.program != program.name or stretch.setting.sample_period_us is None:
        return 0.0
    return program.count_readings(MICROS["SECOND"] / stretch.setting.sample_period_us)


def _find_share(stretch: Stretch | None, ranges: Mapping[str, Ranges], program: Program) -> _Share:
    """The share that passes ranges, with several columns taken as independent of each other.

    A reading per event has a value where that of a period may have none.
    """
    if not ranges:
        return _Share(Passing(), 1.0, 1.0)
    if stretch is None:
        return _Share(Passing(), 0.0, 1.0)
    own = 1.0
    if stretch.setting.ranges:
        full_hz = _count_full(stretch, program)
        own = min(stretch.readings_hz / full_hz, 1.0) if full_hz else 1.0
    known = {name: stretch.values[name] for name in ranges if name in stretch.values}
    if program.counted_in is not None:
        known = {name: replace(values, filled=1.0) for name, values in known.items()}
    shares = [values.count_passing(ranges[name]) for name, values in known.items()]
    unseen = 0.0 if stretch.lets_all_pass(ranges) else 1.0 - own
    least = own * max(sum(shares) - len(shares) + 1.0, 0.0) if len(known) == len(ranges) else 0.0
    steadiness = min(values.steadiness for values in known.values())
    return _Share(Passing(own * prod(shares) + unseen, steadiness), least, min(own * min(shares) + unseen, 1.0))


def _count_events(program: Program, seen: Seen) -> tuple[float | None, float]:
    """Events per second that a program sends a reading for, as others have counted them without ranges; since when."""
    if program.counted_in is not None:
        for stretch in seen.stretches:
            values = stretch.values.get(program.counted_in)
            if values and not stretch.setting.ranges and stretch.seconds >= _LONG_ENOUGH_S:
                return values.mean * values.filled * stretch.readings_hz, stretch.seconds
    return None, 0.0


def _choose_basis(setting: Setting, stretch: Stretch | None, *, is_open: bool, has_events: bool) -> Basis:
    if is_open or (setting.ranges and stretch is None):
        return Basis.UNKNOWN
    return Basis.SEEN if setting.ranges or has_events else Basis.REGULAR
