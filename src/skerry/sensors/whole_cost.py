"""What programs cost a battery altogether, with states and looks in: what a rate must be chosen by if it is to last."""

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros
from skerry.sensors.forecast import Forecaster
from skerry.sensors.messages import Setting
from skerry.sensors.power import LONGEST_PERIOD_US, Power
from skerry.sensors.program import Program
from skerry.sensors.seen import Seen

__all__ = ["WholeCost"]

_TRIES = 50


class WholeCost:
    """A power model of all that a sensor pays for, with all readings sent.

    >>> counts, quarter = Program("counts", ("flow",), bits=8, readings_per_s=1.0), Micros(90 * MICROS["DAY"])
    >>> period_us = WholeCost().longest_life_period(counts, quarter)
    >>> power_mw = WholeCost().power(counts, MICROS["SECOND"] / period_us).total_mw
    >>> period_us, round(WholeCost().life_us(power_mw) / MICROS["DAY"], 2)
    (10332, 90.0)
    """

    def __init__(self, forecaster: Forecaster | None = None) -> None:
        self._forecaster = forecaster or Forecaster()

    def power(self, program: Program, sample_hz: float) -> Power:
        """Mean power at a sample rate. An ``OptionError`` says that the sensor cannot sample so fast."""
        return self._price(program, Micros(max(round(MICROS["SECOND"] / sample_hz), 1)))

    def life_us(self, power_mw: float) -> Micros:
        """How long a full battery lasts."""
        return self._forecaster.model.life_us(power_mw)

    def longest_life_period(self, program: Program, lifetime_us: Micros) -> Micros:
        """The shortest sample period with which a battery lasts, as far as it is found. An ``OptionError``: none is.

        What sampling may take is what the rest leaves. At a slower rate a sensor looks in between its readings, so the
        rest grows, and the period with it, until both fit.
        """
        model = self._forecaster.model
        budget_mw = model.battery_mj * MICROS["SECOND"] / lifetime_us
        period_us, asked_us = model.longest_life_period(program, lifetime_us), lifetime_us
        for _ in range(_TRIES):
            found_mw = self._price(program, period_us).total_mw
            if found_mw <= budget_mw:
                return period_us
            left_mw = budget_mw - found_mw + model.power(program, MICROS["SECOND"] / period_us).total_mw
            if left_mw <= model.power(program, MICROS["SECOND"] / LONGEST_PERIOD_US).total_mw:
                break
            asked_us = Micros(max(round(model.battery_mj * MICROS["SECOND"] / left_mw), asked_us + 1))
            period_us = max(model.longest_life_period(program, asked_us), Micros(period_us + 1))
        asleep_us = self.life_us(self._forecaster.forecast_asleep(Seen()).total_mw)
        asked, asleep = (f"{span_us / MICROS['DAY']:,.1f} days" for span_us in (lifetime_us, asleep_us))
        battery = f"a battery of {model.battery_mah:g} mAh does not last {asked} with program {program.name}"
        raise OptionError(f"{battery}: asleep, and looking in, it lasts {asleep}; ask for less")

    def _price(self, program: Program, period_us: Micros) -> Power:
        return self._forecaster.forecast(program, Setting(program.name, period_us), Seen()).power
