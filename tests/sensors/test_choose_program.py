from dataclasses import dataclass

import pytest

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros, seconds
from skerry.sensors.choose_program import choose_program
from skerry.sensors.program import Program

RAW = Program("raw", ("sensor", "ts", "speed", "flow"), bits=16)
COUNTS = Program("counts", ("sensor", "ts", "flow"), bits=8, readings_per_s=1.0)
BATTERY_MJ = 1_800_000.0
SPEED, FLOW = frozenset({"speed", "flow"}), frozenset({"flow"})


@dataclass(frozen=True)
class Total:
    total_mw: float


class RadioOnly:
    """A model in which a bit costs 0.01 mJ, and nothing else costs anything."""

    def power(self, program, sample_hz):
        if sample_hz > 1000:
            raise OptionError("too fast")
        return Total(0.01 * program.bits * program.count_readings(sample_hz))

    def life_us(self, power_mw):
        return Micros(round(BATTERY_MJ / power_mw * MICROS["SECOND"]))

    def longest_life_period(self, program, lifetime_us):
        if lifetime_us > 3650 * MICROS["DAY"]:
            raise OptionError("no battery lasts so long")
        return Micros(round(0.01 * program.bits * lifetime_us / BATTERY_MJ))


MODEL, PERIOD_US = RadioOnly(), seconds(0.01)


def choose(wanted, period_us=PERIOD_US, lifetime_us=None, programs=(RAW, COUNTS), model=MODEL):
    return choose_program(programs, wanted, period_us, lifetime_us, model)


def test_the_cheapest_program_with_all_columns_is_taken():
    assert (choose(FLOW).program, choose(SPEED).program) == ("counts", "raw")
    assert (choose(FLOW).for_columns, choose(SPEED).for_columns) == ((), ("speed",))


def test_cost_is_told_in_milliwatts_and_battery_life():
    found = choose(SPEED)
    assert found.power_mw == pytest.approx(16.0)
    assert found.life_us == pytest.approx(BATTERY_MJ / 16.0 * MICROS["SECOND"])


def test_columns_that_no_program_delivers_are_wanted_of_none():
    assert choose(FLOW | {"segment"}).program == "counts"


def test_programs_of_which_none_serves_all_are_left_alone_and_that_is_told():
    programs = (COUNTS, Program("speeds", ("sensor", "speed"), bits=8))
    found = choose(SPEED, programs=programs)
    assert found.program is None
    assert found.notes == ("none of its programs (counts, speeds) delivers flow, speed together",)


def test_without_programs_nothing_is_chosen():
    assert choose(FLOW, programs=()).program is None
    (note,) = choose(FLOW, lifetime_us=seconds(9), programs=()).notes
    assert "battery_lifetime cannot be kept" in note


def test_without_a_power_model_the_first_program_that_serves_is_taken():
    assert choose(FLOW, model=None).program == "raw"


def test_lifetime_wins_over_a_shorter_sample_period():
    found = choose(SPEED, lifetime_us=Micros(30 * MICROS["DAY"]))
    assert found.is_kept_by_battery
    assert found.period_us == round(0.16 * 30 * MICROS["DAY"] / BATTERY_MJ)
    assert found.life_us == pytest.approx(30 * MICROS["DAY"], rel=1e-3)


def test_program_with_which_the_battery_lasts_goes_before_one_with_which_it_never_does():
    class RawNeverLasts(RadioOnly):
        def longest_life_period(self, program, lifetime_us):
            return super().longest_life_period(program, lifetime_us if program is COUNTS else 2**60)

    found = choose(FLOW, lifetime_us=Micros(365 * MICROS["DAY"]), model=RawNeverLasts())
    assert (found.program, found.is_kept_by_battery, found.notes) == ("counts", True, ())


def test_lifetime_that_the_wanted_rate_allows_changes_nothing():
    found = choose(SPEED, period_us=seconds(60), lifetime_us=Micros(30 * MICROS["DAY"]))
    assert (found.is_kept_by_battery, found.period_us) == (False, seconds(60))


def test_what_cannot_be_done_is_noted():
    assert choose(SPEED, lifetime_us=Micros(9999 * MICROS["DAY"])).notes == ("no battery lasts so long",)
    assert choose(SPEED, period_us=Micros(100)).notes == ("too fast",)
