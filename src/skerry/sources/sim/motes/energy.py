"""What a mote has used of its battery, by Table 1 of the paper.

Madden, Franklin: Fjording the Stream: An Architecture for Queries over Streaming Sensor Data, 2001, Table 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from skerry.sensors.program import Program

__all__ = ["EnergyMeter", "count_bits"]

_RADIO_MJ_PER_BIT = 4.31e-3
_ACTIVE_MW, _IDLE_MW, _CLOCK_HZ = 6.0, 0.03, 1e6
_CONVERSION_MJ = 0.6 * 60e-6
_SUPPLY_V = 5.0


@dataclass
class EnergyMeter:
    """Adds up energy, in millijoules, from what a mote did.

    >>> meter = EnergyMeter()
    >>> meter.spend(seconds=60.0, samples=10_800, cycles=280 * 10_800, bits=16 * 10_800)
    >>> round(meter.total_mj / 60.0, 2), round(meter.battery, 6)
    (12.75, 0.999575)
    """

    battery_mah: float = 100.0
    total_mj: float = 0.0

    def spend(self, *, seconds: float, samples: float = 0.0, cycles: float = 0.0, bits: float = 0.0) -> None:
        """Add a span of time and what was done in it."""
        active_s = cycles / _CLOCK_HZ
        self.total_mj += _RADIO_MJ_PER_BIT * bits + _ACTIVE_MW * active_s + _CONVERSION_MJ * samples
        self.total_mj += _IDLE_MW * max(seconds - active_s, 0.0)

    @property
    def battery(self) -> float:
        """The fraction of the battery that is left."""
        return max(1.0 - self.total_mj / (self.battery_mah * _SUPPLY_V * 3600.0), 0.0)


def count_bits(program: Program, columns: Iterable[str] | None) -> float:
    """How many bits a reading has if some columns of it are sent; None is all.

    >>> air = Program("raw", ("sensor", "ts", "ozone", "soot"), bits=64)
    >>> count_bits(air, None), count_bits(air, ("sensor", "ts", "soot"))
    (64.0, 48.0)
    """
    known = set(program.columns)
    return float(program.bits) if columns is None else program.bits * len(known & set(columns)) / len(known)
