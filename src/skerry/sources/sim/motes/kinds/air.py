"""Air quality: fine dust and nitrogen dioxide of a town, with temperature and humidity.

Dust and nitrogen dioxide come from the same traffic, and both fall when wind rises. Air is damper when it is colder.
"""

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, Micros, seconds
from skerry.sensors.program import Program
from skerry.sources.sim.motes.kinds.signals import (
    EVERYWHERE,
    SignalKind,
    Signals,
    draw_constant,
    hour_of_day,
    noise,
    sway,
)

__all__ = ["AIR"]

_HOURS = (0.0, 5.0, 8.0, 11.0, 15.0, 18.0, 21.0, 24.0)
_TRAFFIC = (0.1, 0.2, 1.0, 0.5, 0.6, 1.0, 0.4, 0.1)
_SPAN_US = seconds(10)


def _sample(seed: int, index: int, times_us: Int64s) -> Signals:
    """Weather is the same everywhere; streets differ."""
    hour = hour_of_day(times_us)
    temperature = _temperature(seed, index, times_us, hour)
    wind = 3.0 + 0.8 * sway(seed, "wind", EVERYWHERE, times_us, MICROS["HOUR"])
    street = 0.5 + draw_constant(seed, "street", index)
    local = 1.0 + 0.1 * sway(seed, "gust", index, times_us, MICROS["MINUTE"])
    load: Float64s = np.interp(hour, _HOURS, _TRAFFIC) * street * local * 3.0 / np.maximum(wind, 0.5)
    dust = 6.0 + 14.0 * load + 0.3 * noise(seed, "dust", index, times_us)
    dioxide = 8.0 + 38.0 * load + 0.8 * noise(seed, "dioxide", index, times_us)
    humidity = 70.0 - 2.2 * (temperature - 15.0) + 1.5 * sway(seed, "damp", EVERYWHERE, times_us, MICROS["HOUR"])
    return {
        "pm25": np.maximum(dust, 0.0).round(1),
        "no2": np.maximum(dioxide, 0.0).round(1),
        "temperature": temperature.round(2),
        "humidity": np.clip(humidity, 5.0, 100.0).round(1),
    }


def _temperature(seed: int, index: int, times_us: Int64s, hour: Float64s) -> Float64s:
    day = 5.0 * np.cos((hour - 15.0) / 24.0 * 2.0 * np.pi)
    weather = 3.0 * sway(seed, "weather", EVERYWHERE, times_us, 6 * MICROS["HOUR"])
    shade = 2.0 * draw_constant(seed, "shade", index)
    measured: Float64s = 15.0 + day + weather - shade + 0.05 * noise(seed, "temperature", index, times_us)
    return measured


def _summarize(samples: Signals, starts: Int64s) -> Signals:
    """Average over the samples of each span."""
    sizes = np.diff(np.append(starts, len(samples["pm25"])))
    return {f"{name}_mean": (np.add.reduceat(values, starts) / sizes).round(2) for name, values in samples.items()}


_RAW = ("pm25", "no2", "temperature", "humidity")

AIR = SignalKind(
    name="air",
    units={"pm25": "µg/m³", "no2": "µg/m³", "temperature": "°C", "humidity": "%"}
    | {"pm25_mean": "µg/m³", "no2_mean": "µg/m³", "temperature_mean": "°C", "humidity_mean": "%"},
    programs=(
        Program("raw", ("sensor", "ts", *_RAW), bits=64),
        Program("dust", ("sensor", "ts", "pm25"), bits=16),
        Program("means", ("sensor", "ts", *(f"{name}_mean" for name in _RAW)), bits=64, readings_per_s=0.1),
    ),
    sample_period_us=seconds(1),
    middle=(37.8716, -122.2727),
    radius_degrees=0.04,
    sample=_sample,
    summary="means",
    summary_span_us=Micros(_SPAN_US),
    summarize=_summarize,
)
