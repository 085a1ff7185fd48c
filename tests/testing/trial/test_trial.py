"""Sensors on a real broker, queries, and crashes of the driver, the broker and sensors: every answer is there once."""

import pytest

from skerry.testing.trial import TrialSettings, run_trial
from tests.brokers import needs_mosquitto

pytestmark = needs_mosquitto

SMALL = {"sensors": 40, "queries": 30, "seconds": 14.0, "seed": 2, "dying": 8, "delay_s": 8, "listens_ms": 900.0}
# At the rates of their kinds, 2,000 sensors send more than a fleet, a broker and a driver can handle on two cores.
FULL = {"sensors": 2_000, "queries": 1_000, "seconds": 600.0, "delay_s": 30, "rate": 0.2}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("runtime", ["fjord", pytest.param("spark", marks=pytest.mark.soak)])
def test_crashes_change_no_answer(runtime):
    verdict = run_trial(TrialSettings(runtime=runtime, **SMALL))
    assert not verdict.wrong_answers
    assert verdict.numbers.answers > 0
    assert verdict.numbers.deaths > 0
    assert verdict.numbers.controls["taken"] >= 40


@pytest.mark.soak
@pytest.mark.whole
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("runtime", ["fjord", "spark"])
def test_crashes_change_nothing_in_ten_minutes_of_two_thousand_sensors(runtime):
    verdict = run_trial(TrialSettings(runtime=runtime, **FULL))
    assert not verdict.wrong
    assert verdict.numbers.deaths >= 50
