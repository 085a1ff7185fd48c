"""What settings will cost the sensors of a catalogue, each by what was seen of it."""

from collections.abc import Mapping, Sequence

from skerry.catalog import Sensor
from skerry.errors import OptionError
from skerry.model.time import Micros
from skerry.sensors.forecast import Forecast, Forecaster
from skerry.sensors.messages import Setting
from skerry.sensors.program import Program
from skerry.sensors.seen import Seen

__all__ = ["SensorForecasts"]

_NOTHING = Seen()


class SensorForecasts:
    """Forecasts by sensor. ``seen`` is by source and name; of a sensor that is not there nothing was seen."""

    def __init__(self, forecaster: Forecaster, seen: Mapping[tuple[str, str], Seen] | None = None) -> None:
        self._forecaster, self._seen = forecaster, seen or {}

    def forecast(self, sensor: Sensor, programs: Sequence[Program], setting: Setting) -> Forecast | None:
        """What a setting will cost a sensor; None if its programs are not known, or if it cannot run at that rate."""
        seen = self._seen.get((sensor.source, sensor.name), _NOTHING)
        if setting.asleep:
            return self._forecaster.forecast_asleep(seen) if programs else None
        program = next((each for each in programs if each.name == setting.program), None)
        if program is None:
            return None
        try:
            return self._forecaster.forecast(program, setting, seen, sensor.sample_period_us)
        except OptionError:  # the choice of the program has a note that says so
            return None

    def find_life(self, power_mw: float) -> Micros:
        """How long a full battery lasts."""
        return self._forecaster.model.life_us(power_mw)
