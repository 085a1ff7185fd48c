"""Physical quantities that change smoothly, and motes that sample them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Float64s, Int64s
from skerry.model.time import MICROS, Micros
from skerry.sensors.program import Program
from skerry.sources.sim.motes.kinds.kind import Measured, list_periods
from skerry.sources.sim.stateless_random import draw_bell, draw_uniform, make_keys

__all__ = ["EVERYWHERE", "SignalKind", "Signals", "draw_constant", "hour_of_day", "noise", "sway"]

Signals = Mapping[str, Float64s]
"""Values by column, an entry per moment."""

EVERYWHERE = -1
"""The index to draw with what all motes share: the weather."""

_ALONE = np.zeros(1, np.int64)


def sway(seed: int, about: str, index: int, times_us: Int64s, knot_us: int) -> Float64s:
    """Let a quantity wander: bell-shaped draws a knot apart, with straight lines between them.

    >>> times = np.arange(0, 600_000_000, 1_000_000)
    >>> wandered = sway(1, "wind", 0, times, MICROS["MINUTE"])
    >>> bool(abs(np.diff(wandered)).max() < 0.11)
    True
    """
    knot, within = np.divmod(times_us, knot_us)
    knots, back = np.unique(np.concatenate([knot, knot + 1]), return_inverse=True)
    drawn = draw_bell(make_keys(seed, about, knots, np.array([index]))[:, 0], 0)[back]
    part: Float64s = within / knot_us
    return drawn[: knot.size] * (1.0 - part) + drawn[knot.size :] * part


def noise(seed: int, about: str, index: int, times_us: Int64s) -> Float64s:
    """Draw the error of each sample on its own."""
    return draw_bell(make_keys(seed, about, times_us, np.array([index]))[:, 0], 0)


def draw_constant(seed: int, about: str, index: int) -> float:
    """Draw what a mote has for ever, from [0, 1)."""
    return float(draw_uniform(make_keys(seed, about, _ALONE, np.array([index]))[0], 0)[0])


def hour_of_day(times_us: Int64s) -> Float64s:
    """Hours since midnight, UTC."""
    hours: Float64s = times_us % MICROS["DAY"] / MICROS["HOUR"]
    return hours


@dataclass(frozen=True)
class SignalKind:
    """Motes that sample signals. ``raw`` sends each sample; ``summary`` sends what a function makes of a span of them.

    ``middle`` is where the motes stand around, within ``radius_degrees``. A summary has the time at which its span
    begins, and is ready at its end.
    """

    name: str
    units: Mapping[str, str]
    programs: tuple[Program, ...]
    sample_period_us: Micros
    middle: tuple[float, float]
    radius_degrees: float
    sample: Callable[[int, int, Int64s], Signals]
    summary: str
    summary_span_us: Micros
    summarize: Callable[[Signals, Int64s], Signals]

    def locate(self, seed: int, index: int) -> tuple[float, float]:
        """Spread motes evenly over a square, in the same way for every size of a fleet."""
        aside = [self.radius_degrees * (2 * draw_constant(seed, f"{self.name} {axis}", index) - 1) for axis in range(2)]
        return round(self.middle[0] + aside[0], 5), round(self.middle[1] + aside[1], 5)

    def measure(
        self, seed: int, index: int, program: str, first_us: Micros, stop_us: Micros, period_us: Micros
    ) -> Measured:
        """Sample, and summarize if the program does."""
        if program == self.summary:
            return self._summarize(seed, index, first_us, stop_us, period_us)
        times_us = list_periods(first_us, stop_us, period_us)
        found, known = self.sample(seed, index, times_us), self._columns(program)
        return Measured(times_us, times_us, {name: values for name, values in found.items() if name in known})

    def _columns(self, program: str) -> tuple[str, ...]:
        return next(each.columns for each in self.programs if each.name == program)

    def _summarize(self, seed: int, index: int, first_us: Micros, stop_us: Micros, period_us: Micros) -> Measured:
        """A span has at least one sample, however seldom the mote samples."""
        span_us = Micros(max(self.summary_span_us, period_us))
        starts_us = list_periods(first_us, stop_us, span_us) - span_us
        per_span = span_us // period_us
        times_us = (starts_us[:, None] + np.arange(per_span) * period_us).ravel()
        samples = self.sample(seed, index, times_us)
        summaries = self.summarize(samples, np.arange(starts_us.size) * per_span)
        return Measured(starts_us, starts_us + span_us, summaries)
