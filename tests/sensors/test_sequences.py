"""Gaps in sensors' own numbers are those that a look at all numbers would find."""

from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.sensors.sequences import Sequences


def count_gaps(numbers):
    """Runs of missing numbers, found by looking at all numbers between the least and the greatest."""
    missing = [number not in numbers for number in range(min(numbers), max(numbers) + 1)]
    return sum(is_gap for is_gap, _ in groupby(missing))


def follow(frames):
    """The gaps of each sensor after frames of (sensor, number)."""
    sequences, gaps = Sequences(), {}
    for frame in frames:
        sensors, numbers = (np.array(column, np.int64) for column in zip(*frame, strict=True))
        for sensor, change in sequences.follow(sensors, numbers).items():
            gaps[sensor] = gaps.get(sensor, 0) + change
    return gaps


def cut(rows, at):
    return [part for part in (rows[:at], rows[at:]) if part]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), min_size=1, unique=True).filter(
        lambda rows: all(sensor != 0 or number for sensor, number in rows)
    ),
    st.integers(0, 30),
)
def test_gaps_agree_with_a_look_at_all_numbers(rows, at):
    firsts = [(sensor, 0) for sensor in {sensor for sensor, _ in rows}]
    rows = [*firsts, *(row for row in rows if row not in firsts)]
    expected = {sensor: count_gaps([number for each, number in rows if each == sensor]) for sensor, _ in firsts}
    assert {sensor: count for sensor, count in follow(cut(rows, at)).items() if count} == {
        sensor: count for sensor, count in expected.items() if count
    }


def test_sensor_that_restarts_counts_anew_and_keeps_its_gaps():
    assert follow([[(0, 7), (0, 9)], [(0, 7), (0, 8)], [(0, 9)]]) == {0: 1}


def test_number_that_is_far_too_great_makes_one_gap():
    assert follow([[(0, 1), (0, 2**63 - 1), (0, 2), (0, 3)]]) == {0: 1}


def test_only_the_last_gaps_can_be_closed():
    wide = [(0, number) for number in range(0, 1_000, 2)]
    assert follow([wide, [(0, 1)]]) == {0: 499}
    assert follow([wide, [(0, 997)]]) == {0: 498}
