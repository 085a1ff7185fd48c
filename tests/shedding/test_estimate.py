import math
from collections.abc import Callable

import numpy as np
import pytest

from skerry.model.arrays import Float64s
from skerry.shedding.estimate import Estimate, Sampled, estimate

Losses = Float64s
Population = Callable[[int, np.random.Generator], Losses]
RUNS = 400


def equal(count: int, random: np.random.Generator) -> Losses:
    return np.ones(count)


def few(count: int, random: np.random.Generator) -> Losses:
    return random.geometric(0.3, count).astype(np.float64)


def draw_spread(count: int, random: np.random.Generator) -> Losses:
    return np.ceil(random.lognormal(0, 1, count))


def zipf(exponent: float) -> Population:
    return lambda count, random: np.ceil(100 * np.arange(1.0, count + 1) ** -exponent)


def draw_sample(losses: Losses, rate: float, random: np.random.Generator) -> tuple[Sampled, float]:
    """What a sample shows, and the truth outside of it."""
    seen = losses[random.random(losses.size) < rate]
    sums = Sampled(rate, seen.size, float(seen.sum()), float((seen**2).sum()), float(seen.max(initial=0)))
    return sums, float(losses.sum() - seen.sum())


@pytest.mark.parametrize(
    ("population", "rate", "expected_keys"),
    [
        (equal, 0.01, 5),
        (equal, 0.01, 10),
        (equal, 0.01, 100),
        (equal, 0.3, 10),
        (few, 0.01, 5),
        (few, 0.1, 10),
        (draw_spread, 0.01, 5),
        (draw_spread, 0.01, 10),
        (zipf(0.7), 0.01, 5),
        (zipf(0.7), 0.01, 10),
        (zipf(0.7), 0.1, 30),
        (zipf(1.0), 0.01, 30),
        (zipf(1.0), 0.01, 100),
    ],
)
def test_truth_lies_in_the_interval_nine_times_in_ten(population, rate, expected_keys):
    random, covered = np.random.default_rng(1), 0
    for _ in range(RUNS):
        losses = population(int(expected_keys / rate * random.uniform(0.7, 1.3)), random)
        sums, truth = draw_sample(losses, rate, random)
        found = estimate(sums, plausible=float(losses.mean()))
        covered += found.low <= truth <= found.high
    assert 0.85 <= covered / RUNS <= 0.95


@pytest.mark.parametrize("expected_keys", [0.1, 0.5, 2])
def test_upper_end_is_right_even_if_hardly_any_key_of_the_sample_loses(expected_keys):
    random, above = np.random.default_rng(2), 0
    for _ in range(RUNS):
        sums, truth = draw_sample(np.ones(int(expected_keys / 0.01)), 0.01, random)
        above += truth > estimate(sums).high
    assert above <= 0.05 * RUNS


def test_estimate_is_right_on_the_average():
    random, losses = np.random.default_rng(3), zipf(0.7)(2_000, np.random.default_rng(3))
    found, truths = [], []
    for _ in range(RUNS):
        sums, truth = draw_sample(losses, 0.05, random)
        found.append(estimate(sums).total)
        truths.append(truth)
    assert np.mean(found) == pytest.approx(np.mean(truths), rel=0.02)


@pytest.mark.parametrize("keys", [0, 1, 2, 30, 5_000])
@pytest.mark.parametrize("size", [1.0, 40.0])
def test_interval_holds_the_estimate_and_no_less_than_nothing(keys, size):
    found = estimate(Sampled(0.01, keys, keys * size, keys * size**2, size if keys else 0.0))
    assert 0 <= found.low <= found.total <= found.high
    assert found.total == pytest.approx(keys * size * 99)


def test_interval_is_narrower_with_more_keys():
    def width(keys: int) -> float:
        found = estimate(Sampled(0.01, keys, keys, keys, 1))
        return (found.high - found.low) / found.total

    assert width(5) > width(50) > width(500)


def test_nothing_is_outside_a_sample_of_all_keys():
    assert estimate(Sampled(1.0, 5, 9, 21, 4)) == Estimate(0.0, 0.0, 0.0)


def test_of_no_sample_nothing_is_known():
    assert estimate(Sampled(0.0, 0, 0, 0, 0)) == Estimate(0.0, 0.0, math.inf)


def test_without_losses_seen_the_upper_end_rests_on_what_is_plausible():
    nothing = Sampled(0.01, 0, 0, 0, 0)
    assert estimate(nothing, plausible=10).high == pytest.approx(10 * estimate(nothing).high, rel=1e-3)
