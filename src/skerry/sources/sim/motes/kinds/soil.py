"""Soil moisture of fields: it rises with rain and falls as the soil dries; conductivity follows it.

Rain falls on all motes at once, in some of the quarters of a day, and a share of it runs off.
"""

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, seconds
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
from skerry.sources.sim.stateless_random import draw_uniform, make_keys

__all__ = ["SOIL"]

_QUARTER_US = 6 * MICROS["HOUR"]
_REMEMBERED = 20
"""Over how many quarters of a day rain is felt: five days."""
_DRY, _RAINY_SHARE = 11.0, 0.2


def _sample(seed: int, index: int, times_us: Int64s) -> Signals:
    """Three quantities at one depth."""
    moisture = _moisture(seed, index, times_us)
    day = 2.0 * np.cos((hour_of_day(times_us) - 18.0) / 24.0 * 2.0 * np.pi)  # soil lags behind the air
    weather = 2.0 * sway(seed, "weather", EVERYWHERE, times_us, 6 * MICROS["HOUR"])
    temperature = 14.0 + day + weather + 0.03 * noise(seed, "soil temperature", index, times_us)
    salt = 20.0 + 15.0 * draw_constant(seed, "salt", index)
    return {
        "moisture": moisture.round(2),
        "temperature": temperature.round(2),
        "conductivity": (salt * moisture + 2.0 * noise(seed, "conductivity", index, times_us)).round(0),
    }


def _moisture(seed: int, index: int, times_us: Int64s) -> Float64s:
    """Sum the rain of the last days, each shower as much as has not dried yet."""
    quarters = times_us[:, None] // _QUARTER_US - np.arange(_REMEMBERED)
    known, back = np.unique(quarters, return_inverse=True)
    drawn = make_keys(seed, "rain", known, np.array([EVERYWHERE]))[:, 0]
    showers = np.where(draw_uniform(drawn, 0) < _RAINY_SHARE, 4.0 + 10.0 * draw_uniform(drawn, 1), 0.0)
    age_us = times_us[:, None] - quarters * _QUARTER_US
    drying_us = (1.0 + 2.0 * draw_constant(seed, "clay", index)) * MICROS["DAY"]
    soaked = np.minimum(age_us / _QUARTER_US, 1.0) * np.exp(-age_us / drying_us)
    moisture = _DRY + (showers[back].reshape(quarters.shape) * soaked).sum(axis=1)
    return np.minimum(moisture + 0.05 * noise(seed, "moisture", index, times_us), 48.0)


def _summarize(samples: Signals, starts: Int64s) -> Signals:
    """Moisture alone, averaged."""
    sizes = np.diff(np.append(starts, len(samples["moisture"])))
    return {"moisture_mean": (np.add.reduceat(samples["moisture"], starts) / sizes).round(3)}


SOIL = SignalKind(
    name="soil",
    units={"moisture": "%", "temperature": "°C", "conductivity": "µS/cm", "moisture_mean": "%"},
    programs=(
        Program("raw", ("sensor", "ts", "moisture", "temperature", "conductivity"), bits=48),
        Program("moisture", ("sensor", "ts", "moisture"), bits=16),
        Program("means", ("sensor", "ts", "moisture_mean"), bits=16, readings_per_s=1 / 30),
    ),
    sample_period_us=seconds(5),
    middle=(38.5382, -121.7617),
    radius_degrees=0.02,
    sample=_sample,
    summary="means",
    summary_span_us=seconds(30),
    summarize=_summarize,
)
