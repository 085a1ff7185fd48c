"""The controller on its own: a clock that goes on as readings are worked on, and loads that are known."""

import pytest

from skerry.model.time import Micros, seconds
from skerry.replay.pace import Pace, next_pace, note_load

MOST = seconds(4)


def worked_off(reading, joining, steps=400):
    """A stream that comes at one second a second; each step works off what has come. The paces, and lags in seconds.

    A step never takes in more than four seconds' worth, nor less than it takes to begin one.
    """
    pace, waiting, paces, lags = Pace(), 1.0, [], []
    for _ in range(steps):
        pace = next_pace(pace, Micros(round(waiting * 1e6)), MOST)
        span = min(waiting, 4.0)
        load = reading + joining * pace.share
        waiting = max(waiting - span + load * span, 0.1)
        pace = note_load(pace, load)
        paces.append(pace)
        lags.append(waiting)
    return paces, lags


def mean_share(paces):
    return sum(pace.share for pace in paces) / len(paces)


@pytest.mark.parametrize("overload", [1.5, 3.0, 10.0])
def test_join_that_is_too_slow_takes_in_what_it_can_and_lag_stays_in_bounds(overload):
    paces, lags = worked_off(reading=0.05, joining=overload)
    assert max(lags[50:]) < 4.0
    assert 0.5 * 0.95 / overload < mean_share(paces[50:]) < 1.0 / overload
    assert not any(pace.blameless for pace in paces[50:])


@pytest.mark.parametrize("reading", [1.05, 1.5, 3.0])
def test_nothing_to_speak_of_is_refused_where_reading_is_what_lags(reading):
    paces, lags = worked_off(reading, joining=0.02)
    assert lags[-1] > 10.0
    assert mean_share(paces) > 0.95
    assert sum(pace.blameless for pace in paces) > 0.9 * len(paces)


def test_where_both_lag_the_join_answers_for_its_part():
    paces, _ = worked_off(reading=2.0, joining=2.0)
    assert 0.4 < mean_share(paces) < 0.6
    assert paces[-1].blameless


def test_all_is_taken_in_where_nothing_lags():
    paces, _ = worked_off(reading=0.3, joining=0.3)
    assert {pace.share for pace in paces} == {1.0}


def test_it_is_noticed_when_the_join_becomes_what_lags():
    pace, waiting = worked_off(reading=1.2, joining=0.0)[0][-1], 100.0
    for _ in range(60):
        pace = next_pace(pace, Micros(round(waiting * 1e6)), MOST)
        pace = note_load(pace, 0.1 + 5.0 * pace.share)
    assert pace.share < 0.2
    assert not pace.blameless
