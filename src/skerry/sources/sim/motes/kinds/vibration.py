"""Vibration of machines: acceleration and the temperature of a bearing.

A machine runs or stands for ten minutes at a time, mostly by day. It shakes at its speed of rotation, and the more its
bearing is worn the harder; a bearing that runs gets warm.
"""

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, Micros, seconds
from skerry.sensors.program import Program
from skerry.sources.sim.motes.kinds.signals import SignalKind, Signals, draw_constant, hour_of_day, noise, sway
from skerry.sources.sim.stateless_random import draw_uniform, make_keys

__all__ = ["VIBRATION"]

_SHIFT_US = 10 * MICROS["MINUTE"]
_REMEMBERED = 4
"""For how many shifts a bearing stays warm."""
_IDLE_SHAKING, _GRAVITY = 0.02, 9.81


def _sample(seed: int, index: int, times_us: Int64s) -> Signals:
    """Shaking at one frequency with noise on it."""
    running = _is_running(seed, index, times_us // _SHIFT_US)
    hertz = 20.0 + 10.0 * draw_constant(seed, "rotation", index)
    wear = 0.5 + 4.0 * draw_constant(seed, "wear", index) ** 3
    load = 1.0 + 0.15 * sway(seed, "load", index, times_us, MICROS["MINUTE"])
    # Whole turns are left out before the sine: microseconds since 1970 times a frequency leave a double few digits.
    turns = times_us % MICROS["MINUTE"] / 1e6 * hertz + draw_constant(seed, "phase", index)
    shaking = running * wear * load * np.sin(2.0 * np.pi * (turns % 1.0))
    shaken = shaking + (_IDLE_SHAKING + 0.2 * running * wear) * noise(seed, "shaking", index, times_us)
    warm = 22.0 + 3.0 * sway(seed, "hall", index, times_us, MICROS["HOUR"]) + _warmth(seed, index, times_us, wear)
    return {
        "acceleration": np.clip(shaken, -8 * _GRAVITY, 8 * _GRAVITY).round(3),
        "temperature": warm.round(1),
    }


def _is_running(seed: int, index: int, shifts: Int64s) -> Float64s:
    """1 while it runs, 0 while it stands: seldom at night."""
    drawn = draw_uniform(make_keys(seed, "shift", shifts.ravel(), np.array([index]))[:, 0], 0).reshape(shifts.shape)
    hour = hour_of_day(shifts * _SHIFT_US)
    running: Float64s = np.where(drawn < np.where((hour >= 6) & (hour < 22), 0.85, 0.15), 1.0, 0.0)
    return running


def _warmth(seed: int, index: int, times_us: Int64s, wear: float) -> Float64s:
    """A bearing warms up over a shift that it runs, and cools in the next ones."""
    back = np.arange(_REMEMBERED)
    share = times_us % _SHIFT_US / _SHIFT_US
    felt = np.concatenate([share[:, None], np.exp(-(share[:, None] + back[:-1]))], axis=1)
    ran = _is_running(seed, index, times_us[:, None] // _SHIFT_US - back)
    warmth: Float64s = (6.0 + 3.0 * wear) * (ran * felt).sum(axis=1)
    return warmth


def _summarize(samples: Signals, starts: Int64s) -> Signals:
    """How hard it shakes on the whole and at the worst, and the temperature at the beginning."""
    shaken = samples["acceleration"]
    sizes = np.diff(np.append(starts, len(shaken)))
    return {
        "rms": np.sqrt(np.add.reduceat(shaken**2, starts) / sizes).round(3),
        "peak": np.maximum.reduceat(np.abs(shaken), starts),
        "temperature": samples["temperature"][starts],
    }


VIBRATION = SignalKind(
    name="vibration",
    units={"acceleration": "m/s²", "temperature": "°C", "rms": "m/s²", "peak": "m/s²"},
    programs=(
        Program("raw", ("sensor", "ts", "acceleration", "temperature"), bits=32),
        Program("summary", ("sensor", "ts", "rms", "peak", "temperature"), bits=48, readings_per_s=1.0),
    ),
    sample_period_us=Micros(200_000),
    middle=(37.7749, -122.3894),
    radius_degrees=0.005,
    sample=_sample,
    summary="summary",
    summary_span_us=seconds(1),
    summarize=_summarize,
)
