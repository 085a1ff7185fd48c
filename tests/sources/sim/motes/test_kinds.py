"""What motes measure is what such sensors would: in range, smooth where nature is, and related as quantities are."""

from functools import cache

import numpy as np
import pytest

from skerry.model.time import MICROS, Micros
from skerry.sources.sim.motes.kinds import KINDS

START = Micros(1_780_000_000_000_000)
DAY = Micros(START + MICROS["DAY"])
MINUTE = Micros(MICROS["MINUTE"])
LIMITS = {
    ("traffic", "speed"): (8, 95),
    ("traffic", "length"): (8, 80),
    ("traffic", "occupancy"): (0, 1),
    ("air", "pm25"): (0, 250),
    ("air", "no2"): (0, 600),
    ("air", "temperature"): (-10, 40),
    ("air", "humidity"): (5, 100),
    ("soil", "moisture"): (5, 50),
    ("soil", "temperature"): (0, 35),
    ("vibration", "acceleration"): (-80, 80),
    ("vibration", "temperature"): (5, 90),
}


@cache
def sample(kind: str, index: int = 0, program: str = "raw") -> dict[str, np.ndarray]:
    return dict(KINDS[kind].measure(1, index, program, START, DAY, MINUTE).columns)


def correlate(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.corrcoef(one, other)[0, 1])


@pytest.mark.parametrize(("kind", "column"), LIMITS)
def test_values_are_possible(kind, column):
    low, high = LIMITS[kind, column]
    values = np.concatenate([sample(kind, index)[column] for index in range(3)])
    assert low <= np.nanmin(values) < np.nanmax(values) <= high


def test_dust_and_nitrogen_dioxide_come_together_and_cold_air_is_damp():
    air = sample("air")
    assert correlate(air["pm25"], air["no2"]) > 0.9
    assert correlate(air["temperature"], air["humidity"]) < -0.5


def test_neighbours_feel_the_same_weather():
    assert correlate(sample("air", 0)["temperature"], sample("air", 1)["temperature"]) > 0.9
    assert correlate(sample("soil", 0)["moisture"], sample("soil", 1)["moisture"]) > 0.9


def test_conductivity_follows_moisture():
    soil = sample("soil")
    assert correlate(soil["moisture"], soil["conductivity"]) > 0.9


def test_a_machine_that_runs_shakes():
    rms = sample("vibration", program="summary")["rms"]
    assert np.percentile(rms, 95) > 10 * np.percentile(rms, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_motes_and_seeds_differ(kind):
    column = next(name for each, name in LIMITS if each == kind)
    other = KINDS[kind].measure(2, 0, "raw", START, DAY, MINUTE).columns[column]
    assert not np.array_equal(sample(kind)[column], other)
    assert not np.array_equal(sample(kind)[column], sample(kind, 1)[column])
