"""A battery lasts as long as was asked for, with states and looks in, and the rate is as high as that allows."""

import pytest

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros
from skerry.sensors.power import PowerModel
from skerry.sensors.traffic.programs import COUNTS, RAW, VEHICLES
from skerry.sensors.whole_cost import WholeCost

COST = WholeCost()


def life_days(program, period_us):
    return COST.life_us(COST.power(program, MICROS["SECOND"] / period_us).total_mw) / MICROS["DAY"]


@pytest.mark.parametrize("days", [10, 30, 90, 180, 250, 300])
@pytest.mark.parametrize("program", [RAW, VEHICLES, COUNTS], ids=lambda program: program.name)
def test_battery_lasts_as_long_as_was_asked_for_and_no_faster_rate_does(program, days):
    found = COST.longest_life_period(program, Micros(days * MICROS["DAY"]))
    assert life_days(program, found) >= days
    assert found >= PowerModel().longest_life_period(program, Micros(days * MICROS["DAY"]))
    faster = [round(found * share) for share in (0.98, 0.9, 0.7, 0.5)]
    assert not [period_us for period_us in faster if life_days(program, period_us) >= days]


def test_lifetime_that_looking_in_alone_does_not_allow_is_refused():
    assert PowerModel().longest_life_period(RAW, Micros(500 * MICROS["DAY"]))
    with pytest.raises(
        OptionError,
        match=r"100 mAh does not last 500.0 days with program raw: asleep, and looking in, it lasts 323.1 days",
    ):
        COST.longest_life_period(RAW, Micros(500 * MICROS["DAY"]))
