"""What a mote has used: energy added up over the spans of its life, whatever it was told to do in each."""

from dataclasses import dataclass, field

from skerry.errors import OptionError
from skerry.sensors.power import PowerModel

__all__ = ["EnergyMeter"]


@dataclass
class EnergyMeter:
    """Adds up energy by component, in millijoules, from what a mote did.

    A mote that changes its setting, sleeps or dies needs nothing special: it tells each span as it was. Time in which
    the processor has no cycles to run counts as idle.

    >>> meter = EnergyMeter()
    >>> meter.spend(seconds=60.0, samples=10_800, cycles=280 * 10_800, bits=8 * 60)
    >>> round(meter.total_mj / 60.0, 3), round(meter.battery, 6)
    (0.372, 0.999988)
    """

    model: PowerModel = field(default_factory=PowerModel)
    radio_mj: float = 0.0
    processor_mj: float = 0.0
    conversion_mj: float = 0.0
    idle_mj: float = 0.0
    listening_mj: float = 0.0

    def spend(
        self, *, seconds: float, samples: float = 0, cycles: float = 0, bits: float = 0, listening_s: float = 0.0
    ) -> None:
        """Add a span of time and what was done in it."""
        if min(seconds, samples, cycles, bits, listening_s) < 0:
            raise OptionError(f"a mote cannot do less than nothing; got {seconds, samples, cycles, bits, listening_s}")
        model, active_s = self.model, cycles / self.model.clock_hz
        self.radio_mj += model.radio_uj_per_bit * bits / 1000.0
        self.processor_mj += model.active_mw * active_s
        self.conversion_mj += model.conversion_mw * model.conversion_us * samples / 1e6
        self.idle_mj += model.idle_mw * max(seconds - active_s, 0.0)
        self.listening_mj += model.listening_mw * listening_s

    @property
    def total_mj(self) -> float:
        """All components together."""
        return self.radio_mj + self.processor_mj + self.conversion_mj + self.idle_mj + self.listening_mj

    @property
    def battery(self) -> float:
        """The fraction of the battery that is left; never below 0."""
        return max(1.0 - self.total_mj / self.model.battery_mj, 0.0)
