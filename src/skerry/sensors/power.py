"""What a sensor's programs cost: power by component, how long a battery lasts, and how fast one may sample.

    power
      |            /   raw: the radio sends every sample
      |         /            ___ vehicles: bends where it samples faster than it sends
      |      /      ___---
      |   /  __---
      |/__-
      +------------------------ sample rate

Power is a sum of straight lines in the sample rate, with at most one bend, so the rate that a battery can bear is had
exactly, without a search.

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, Table 1.
"""

from dataclasses import dataclass, fields
from math import ceil, inf, isfinite

from skerry.errors import OptionError
from skerry.model.time import END_OF_TIME, MICROS, Micros
from skerry.sensors.program import Program

__all__ = ["EVERYTHING", "LONGEST_PERIOD_US", "Power", "PowerModel", "Usage"]

LONGEST_PERIOD_US = Micros(MICROS["DAY"])
"""A sensor that would have to sample more rarely than this to last is said not to last."""

_SECOND = MICROS["SECOND"]
_ROUNDED = 1.0 + 1e-9
"""A rate and the whole period that it comes from, or leads to, differ by the rounding of doubles."""


@dataclass(frozen=True)
class Usage:
    """What a setting makes of a program: columns that are sent (None: all), and shares of readings and of time.

    ``passing`` is the share of readings within the setting's ranges, ``listening`` that of time in which the radio
    listens for control.
    """

    columns: tuple[str, ...] | None = None
    passing: float = 1.0
    listening: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        for name in ("passing", "listening"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise OptionError(f"{name} is a share, from 0 to 1; got {getattr(self, name)}")

    def count_bits(self, program: Program) -> float:
        """Bits per reading of a program, on average over those that pass and those that do not."""
        return self.passing * program.count_bits(self.columns)


EVERYTHING = Usage()
"""All columns of all readings; the radio never listens."""


@dataclass(frozen=True)
class Power:
    """Mean power by component, in milliwatts."""

    radio_mw: float
    processor_mw: float
    conversion_mw: float
    idle_mw: float
    listening_mw: float = 0.0

    @property
    def total_mw(self) -> float:
        """All components together."""
        return self.radio_mw + self.processor_mw + self.conversion_mw + self.idle_mw + self.listening_mw


@dataclass(frozen=True)
class PowerModel:
    """A mote's radio, processor, A-to-D converter and battery. The defaults are Table 1's.

    The processor is active for a program's cycles per sample and idle in between. Table 1 says nothing about what
    listening costs, so it is free unless ``listening_mw`` is given.

    >>> raw = Program("raw", ("sensor", "ts", "signal"), bits=16)
    >>> power = PowerModel().power(raw, sample_hz=180.0)
    >>> round(power.radio_mw, 2), round(power.total_mw, 2)
    (12.41, 12.75)
    """

    radio_uj_per_bit: float = 4.31
    supply_v: float = 5.0
    active_mw: float = 6.0
    idle_mw: float = 0.03
    clock_hz: float = 1e6
    conversion_mw: float = 0.6
    conversion_us: float = 60.0
    battery_mah: float = 100.0
    listening_mw: float = 0.0

    def __post_init__(self) -> None:
        """Refuse hardware that cannot be."""
        for name, value in ((field.name, getattr(self, field.name)) for field in fields(self)):
            if not (isfinite(value) and value >= 0.0):
                raise OptionError(f"{name} of a power model is a number from 0 on; got {value}")
        for name in ("supply_v", "clock_hz", "battery_mah"):
            if getattr(self, name) == 0.0:
                raise OptionError(f"{name} of a power model is above 0; got 0")
        if self.active_mw < self.idle_mw:
            raise OptionError(f"an active processor takes more than an idle one; got {self.active_mw}, {self.idle_mw}")

    @property
    def battery_mj(self) -> float:
        """The energy of a full battery, in millijoules."""
        return self.battery_mah * self.supply_v * 3600.0

    def fastest_hz(self, program: Program) -> float:
        """The sample rate at which the processor, or the converter, has no time left.

        >>> round(PowerModel().fastest_hz(Program("raw", (), bits=16)))
        3571
        """
        busy_s = self._busy_s(program)
        return 1.0 / busy_s if busy_s else inf

    def power(self, program: Program, sample_hz: float, usage: Usage = EVERYTHING) -> Power:
        """Mean power by component at a sample rate, 0 for a sensor that takes no samples."""
        if not (isfinite(sample_hz) and 0.0 <= sample_hz * self._busy_s(program) <= _ROUNDED):
            fastest = f"{self.fastest_hz(program):,.0f} samples per second"
            raise OptionError(f"program {program.name} can take up to {fastest} on this processor; got {sample_hz:g}")
        active = min(program.cycles_per_sample * sample_hz / self.clock_hz, 1.0)
        return Power(
            radio_mw=self._radio_mj(program, usage) * program.count_readings(sample_hz),
            processor_mw=self.active_mw * active,
            conversion_mw=self.conversion_mw * self.conversion_us / _SECOND * sample_hz,
            idle_mw=self.idle_mw * (1.0 - active),
            listening_mw=self.listening_mw * usage.listening,
        )

    def sleeping_power(self, look_in_us: Micros, bits: float, listening: float = 0.0) -> Power:
        """Mean power of a sensor that takes no samples, and sends so many bits whenever it looks in.

        >>> round(PowerModel().sleeping_power(Micros(5_000_000), bits=8).total_mw, 4)
        0.0369
        """
        if look_in_us <= 0:
            raise OptionError(f"a sleeping sensor looks in after some time; got {look_in_us} microseconds")
        radio_mw = self.radio_uj_per_bit / 1000.0 * bits / (look_in_us / _SECOND)
        return Power(radio_mw, 0.0, 0.0, self.idle_mw, self.listening_mw * listening)

    def life_us(self, power_mw: float) -> Micros:
        """How long a full battery lasts at a mean power.

        >>> PowerModel().life_us(6.0) / MICROS["HOUR"]
        83.33333333333333
        """
        life_us = self.battery_mj / power_mw * _SECOND if power_mw > 0.0 else inf
        return Micros(int(min(life_us, END_OF_TIME)))

    def highest_rate(self, program: Program, lifetime_us: Micros, usage: Usage = EVERYTHING) -> float | None:
        """The highest sample rate with which a full battery lasts; None if it does not at one sample per day.

        >>> raw = Program("raw", ("sensor", "ts", "signal"), bits=16)
        >>> round(PowerModel().highest_rate(raw, Micros(30 * MICROS["DAY"])), 2)
        9.4
        >>> PowerModel().highest_rate(raw, Micros(700 * MICROS["DAY"])) is None
        True
        """
        spare_mw = self._budget_mw(lifetime_us) - self.power(program, 0.0, usage).total_mw
        rate = min(self._invert(program, usage, spare_mw), self.fastest_hz(program))
        return rate if rate >= _SECOND / LONGEST_PERIOD_US else None

    def longest_life_period(self, program: Program, lifetime_us: Micros, usage: Usage = EVERYTHING) -> Micros:
        """The shortest sample period, in whole microseconds, with which a full battery lasts.

        >>> counts = Program("counts", ("sensor", "ts", "flow"), bits=8, readings_per_s=1.0)
        >>> PowerModel().longest_life_period(counts, Micros(90 * MICROS["DAY"]))
        10226
        """
        rate = self.highest_rate(program, lifetime_us, usage)
        if rate is None:
            raise OptionError(self._refuse(program, lifetime_us, usage))
        return Micros(max(ceil(_SECOND / (rate * _ROUNDED)), 1))

    def _busy_s(self, program: Program) -> float:
        """How long a sample keeps the processor or the converter busy."""
        return max(program.cycles_per_sample / self.clock_hz, self.conversion_us / _SECOND)

    def _budget_mw(self, lifetime_us: Micros) -> float:
        if lifetime_us <= 0:
            raise OptionError(f"a battery's lifetime is above 0; got {lifetime_us} microseconds")
        return self.battery_mj / (lifetime_us / _SECOND)

    def _radio_mj(self, program: Program, usage: Usage) -> float:
        """What a reading costs to send."""
        return self.radio_uj_per_bit / 1000.0 * usage.count_bits(program)

    def _invert(self, program: Program, usage: Usage, spare_mw: float) -> float:
        """The rate that takes ``spare_mw`` more than no samples do: along the steep part, and on along the flat one."""
        sampling_mj = (self.active_mw - self.idle_mw) * program.cycles_per_sample / self.clock_hz
        sampling_mj += self.conversion_mw * self.conversion_us / _SECOND
        radio_mj = self._radio_mj(program, usage)
        bend_hz = inf if program.readings_per_s is None else program.readings_per_s
        rate = _divide(spare_mw, sampling_mj + radio_mj)
        return rate if rate <= bend_hz else _divide(spare_mw - radio_mj * bend_hz, sampling_mj)

    def _refuse(self, program: Program, lifetime_us: Micros, usage: Usage) -> str:
        idle_us = self.life_us(self.power(program, _SECOND / LONGEST_PERIOD_US, usage).total_mw)
        asked, longest = (f"{span_us / MICROS['DAY']:,.1f} days" for span_us in (lifetime_us, idle_us))
        battery = f"a battery of {self.battery_mah:g} mAh does not last {asked}"
        return f"{battery} with program {program.name}: at one sample per day it lasts {longest}; ask for less"


def _divide(spare_mw: float, price_mj: float) -> float:
    """How many times something can be paid for in a second; without end where it is free."""
    if price_mj == 0.0:
        return inf if spare_mw >= 0.0 else 0.0
    return spare_mw / price_mj
