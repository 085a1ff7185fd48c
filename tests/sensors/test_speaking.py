"""How often a sensor speaks, against one that takes turn after turn."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.sensors.habits import Habits
from skerry.sensors.speaking import Passing, count_asleep, count_speaking

TURNS = 20_000
HABITS = Habits()


def play(period_turns, per_turn, passing, seed=1):
    """Take turns: readings come every so many turns, some at once; each fares as the last one did, or is drawn anew."""
    random_, passes, silent = random.Random(seed), True, 0
    readings = messages = looks = 0
    for turn in range(TURNS):
        sent = 0
        for _ in range(per_turn if turn % period_turns == 0 else 0):
            if random_.random() >= passing.steadiness:
                passes = random_.random() < passing.share
            sent += passes
        readings, messages = readings + sent, messages + (sent > 0)
        silent = 0 if sent else silent + 1
        if silent == HABITS.silent_turns:
            looks, silent = looks + 1, 0
    return readings / TURNS, messages / TURNS, looks / TURNS


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([(1, 1), (1, 5), (2, 1), (5, 1), (7, 1)]), st.floats(0.1, 1.0), st.sampled_from([0.0, 0.5, 0.9]))
def test_counts_are_those_of_a_sensor_that_takes_its_turns(shape, share, steadiness):
    period, per_turn = shape
    passing = Passing(share, steadiness)
    found = count_speaking(HABITS, per_turn / period, passing)
    readings, messages, looks = play(period, per_turn, passing)
    assert found.readings_hz == pytest.approx(readings, rel=0.15, abs=0.01)
    assert found.messages_hz == pytest.approx(messages, rel=0.15, abs=0.01)
    assert found.states_hz == pytest.approx(max(looks, 1 / 60), rel=0.25, abs=0.01)


def test_a_sensor_none_of_whose_readings_pass_speaks_as_one_that_sleeps():
    assert count_speaking(HABITS, 5.0, Passing(0.0)) == count_asleep(HABITS)


def test_values_that_never_change_pass_or_are_left_out_for_long():
    found = count_speaking(HABITS, 1.0, Passing(0.25, 1.0))
    assert found.states_hz == pytest.approx(0.75 / 3)


def test_events_that_come_at_random_leave_turns_out():
    found = count_speaking(HABITS, 0.5, Passing(), is_regular=False)
    assert found.messages_hz == pytest.approx(1 - 2.718281828**-0.5)
