"""The paper's workload: sensors whose values follow Zipf's law and whose tuples come at random moments."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skerry.model.arrays import Int32s, Int64s
from skerry.model.time import MICROS

__all__ = ["WINDOW_US", "Lifetime", "Load", "Values", "generate", "make_churning", "make_steady"]


WINDOW_US = 60 * MICROS["SECOND"]
RANK_COUNT = 100
_LEAST_EXPONENT, _GREATEST_EXPONENT = 1, 5
_MOST_CHANGED = 100


@dataclass(frozen=True)
class Lifetime:
    """From when until when there is a sensor."""

    start_us: int
    end_us: int


@dataclass(frozen=True)
class Values:
    """What sensors read: a rank by Zipf's law, the exponent an integer from 1 to 5 a sensor, all from one ranking.

    A rank stands for ``values_a_rank`` values, which a sensor goes through in turn, in an order of its own.
    1 is the paper's law; more flatten its head.
    """

    values_a_rank: int = 1
    seed: int = 1


@dataclass(frozen=True)
class Load:
    """Tuples of all sensors in order of arrival, which is also that of event time."""

    sensors: Int32s
    keys: Int64s
    times: Int64s
    end_us: int

    @property
    def count(self) -> int:
        """How many tuples there are."""
        return int(self.times.size)


def make_steady(sensor_count: int, seconds: int) -> list[Lifetime]:
    """Sensors that are there all the time."""
    return [Lifetime(0, seconds * MICROS["SECOND"])] * sensor_count


def make_churning(sensor_count: int, seconds: int, seed: int = 1) -> list[Lifetime]:
    """Sensors of which every minute between 1 and 100, at random, are added or removed.

    >>> len(make_churning(500, seconds=60)), len(make_churning(500, seconds=60 * 9)) > 500
    (500, True)
    """
    random, end_us = np.random.default_rng(seed), seconds * MICROS["SECOND"]
    starts, ends = [0] * sensor_count, [end_us] * sensor_count
    for moment in range(MICROS["MINUTE"], end_us, MICROS["MINUTE"]):
        changed = int(random.integers(1, _MOST_CHANGED + 1))
        living = [sensor for sensor, end in enumerate(ends) if end == end_us]
        if random.random() < 0.5:
            starts += [moment] * changed
            ends += [end_us] * changed
        else:
            for sensor in random.permutation(living)[: min(changed, len(living) - 1)]:
                ends[sensor] = moment
    return [Lifetime(*lifetime) for lifetime in zip(starts, ends, strict=True)]


def generate(lifetimes: Sequence[Lifetime], rate_hz: float, values: Values) -> Load:
    """The tuples of sensors, at exponentially distributed intervals."""
    random = np.random.default_rng(values.seed)
    exponents = random.integers(_LEAST_EXPONENT, _GREATEST_EXPONENT + 1, len(lifetimes))
    moments = [_draw_moments(random, lifetime, rate_hz) for lifetime in lifetimes]
    keys = [_draw_keys(random, times.size, int(of), values) for times, of in zip(moments, exponents, strict=True)]
    sensors = np.repeat(np.arange(len(lifetimes), dtype=np.int32), [times.size for times in moments])
    times = np.concatenate(moments)
    order = np.argsort(times, kind="stable")
    end_us = max(lifetime.end_us for lifetime in lifetimes)
    return Load(sensors[order], np.concatenate(keys)[order], times[order], end_us)


def _draw_moments(random: np.random.Generator, lifetime: Lifetime, rate_hz: float) -> Int64s:
    expected = (lifetime.end_us - lifetime.start_us) * rate_hz / MICROS["SECOND"]
    enough = int(expected + 6 * expected**0.5 + 20)
    intervals = random.exponential(MICROS["SECOND"] / rate_hz, enough)
    times = lifetime.start_us + np.cumsum(intervals).astype(np.int64)
    return times[times < lifetime.end_us]


def _draw_keys(random: np.random.Generator, count: int, exponent: int, values: Values) -> Int64s:
    shares = np.arange(1.0, RANK_COUNT + 1) ** -exponent
    limits = np.cumsum(shares) / shares.sum()
    ranks = np.minimum(np.searchsorted(limits, random.random(count), side="right"), RANK_COUNT - 1)
    turns = random.permutation(values.values_a_rank)
    return ranks * values.values_a_rank + turns[_count_seen(ranks) % values.values_a_rank]


def _count_seen(ranks: Int64s) -> Int64s:
    """For each element, how often its rank stands before it.

    >>> _count_seen(np.array([5, 2, 5, 5, 2])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(ranks, kind="stable")
    firsts = np.searchsorted(ranks[order], ranks[order])
    seen = np.empty_like(ranks)
    seen[order] = np.arange(ranks.size) - firsts
    return seen
