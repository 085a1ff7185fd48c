import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import OptionError
from skerry.model.time import END_OF_TIME, MICROS, Micros
from skerry.sensors.energy_meter import EnergyMeter
from skerry.sensors.power import EVERYTHING, LONGEST_PERIOD_US, PowerModel, Usage
from skerry.sensors.program import Program

RAW = Program("raw", ("sensor", "ts", "signal"), bits=16)
VEHICLES = Program("vehicles", ("sensor", "ts", "speed"), bits=36, readings_per_s=5.0)
COUNTS = Program("counts", ("sensor", "ts", "flow"), bits=8, readings_per_s=1.0)
MODEL = PowerModel()

programs = st.builds(
    Program,
    name=st.just("p"),
    columns=st.just(("sensor", "ts", "a", "b")),
    bits=st.integers(0, 500),
    readings_per_s=st.none() | st.floats(0.001, 100.0),
    cycles_per_sample=st.integers(0, 5_000),
    shared_bits=st.just(0),
)
models = st.builds(
    PowerModel,
    radio_uj_per_bit=st.floats(0.0, 50.0),
    idle_mw=st.floats(0.0, 1.0),
    active_mw=st.floats(1.0, 100.0),
    battery_mah=st.floats(1.0, 10_000.0),
    listening_mw=st.floats(0.0, 20.0),
)
usages = st.builds(
    Usage,
    columns=st.none() | st.just(("sensor", "ts", "a")),
    passing=st.floats(0.0, 1.0),
    listening=st.floats(0.0, 0.1),
)
lifetimes = st.integers(MICROS["MINUTE"], 5_000 * MICROS["DAY"]).map(Micros)


@pytest.mark.parametrize(("program", "paper_mw"), [(RAW, 13.0), (VEHICLES, 1.1), (COUNTS, 0.38)])
def test_table_1_gives_the_papers_totals_at_180_hz(program, paper_mw):
    assert MODEL.power(program, 180.0).total_mw == pytest.approx(paper_mw, rel=0.15)


def test_components_are_those_worked_out_by_hand():
    power = MODEL.power(RAW, 100.0)
    assert power.radio_mw == pytest.approx(100 * 16 * 4.31e-3)
    assert power.processor_mw == pytest.approx(6.0 * 0.028)
    assert power.conversion_mw == pytest.approx(0.6 * 0.006)
    assert power.idle_mw == pytest.approx(0.03 * 0.972)


def test_full_battery_runs_the_processor_for_83_hours():
    assert MODEL.life_us(6.0) == pytest.approx(83.33 * MICROS["HOUR"], rel=1e-3)
    assert MODEL.life_us(0.0) == END_OF_TIME


@given(programs, models, usages, lifetimes)
def test_highest_rate_is_the_inverse_of_battery_life(program, model, usage, lifetime_us):
    rate = model.highest_rate(program, lifetime_us, usage)
    slowest = model.power(program, MICROS["SECOND"] / LONGEST_PERIOD_US, usage).total_mw
    if rate is None:
        assert model.life_us(slowest) <= lifetime_us * (1 + 1e-9)
        return
    life_us = model.life_us(model.power(program, rate, usage).total_mw)
    assert life_us >= lifetime_us * (1 - 1e-9)
    if rate < model.fastest_hz(program) and program.cycles_per_sample:
        assert life_us <= lifetime_us * (1 + 1e-9)


@given(programs, models, usages, lifetimes)
def test_period_is_the_shortest_that_lasts(program, model, usage, lifetime_us):
    if model.highest_rate(program, lifetime_us, usage) is None:
        return
    period_us = model.longest_life_period(program, lifetime_us, usage)
    assert _lasts(model, program, period_us, usage, lifetime_us * (1 - 1e-8))
    assert period_us == 1 or not _lasts(model, program, period_us - 1, usage, lifetime_us * (1 + 1e-8))


def _lasts(model, program, period_us, usage, lifetime_us) -> bool:
    """Whether a battery lasts so long, the slow way: as a mote that reports one day."""
    rate = MICROS["SECOND"] / period_us
    if rate > model.fastest_hz(program) * (1 + 1e-9):
        return False
    return model.life_us(_meter(model, program, rate, usage, 86_400.0).total_mj / 86_400.0) >= lifetime_us


def _meter(model, program, rate, usage, span_s, meter=None) -> EnergyMeter:
    """What a mote reports that runs a program for a while."""
    meter = meter or EnergyMeter(model)
    meter.spend(
        seconds=span_s,
        samples=rate * span_s,
        cycles=rate * span_s * program.cycles_per_sample,
        bits=program.count_readings(rate) * span_s * usage.passing * program.count_bits(usage.columns),
        listening_s=usage.listening * span_s,
    )
    return meter


@given(programs, models, usages, st.floats(0.0, 150.0), st.floats(0.0, 150.0))
def test_meter_agrees_with_the_model_span_by_span(program, model, usage, first_hz, second_hz):
    meter = _meter(model, program, first_hz, usage, 10.0)
    _meter(model, program, second_hz, usage, 50.0, meter)
    spent = sum(model.power(program, hz, usage).total_mw * s for hz, s in ((first_hz, 10.0), (second_hz, 50.0)))
    assert meter.total_mj == pytest.approx(spent, abs=1e-9)


def test_lifetime_that_no_rate_reaches_is_refused_with_what_is_possible():
    with pytest.raises(OptionError, match=r"100 mAh does not last 700\.0 days with program raw: .* lasts 694\."):
        MODEL.longest_life_period(RAW, Micros(700 * MICROS["DAY"]))


@pytest.mark.parametrize("rate", [-1.0, 4_000.0, float("nan"), float("inf")])
def test_rate_that_the_processor_cannot_keep_up_with_is_refused(rate):
    with pytest.raises(OptionError, match="up to 3,571 samples per second on this processor"):
        MODEL.power(RAW, rate)


def test_rate_below_that_of_readings_sends_one_per_sample():
    assert MODEL.power(COUNTS, 0.5).radio_mw == pytest.approx(0.5 * 8 * 4.31e-3)


def test_columns_and_ranges_save_radio_alone():
    air = Program("raw", ("sensor", "ts", "ozone", "soot"), bits=64)
    whole, part = MODEL.power(air, 1.0), MODEL.power(air, 1.0, Usage(("sensor", "ts", "soot"), passing=0.5))
    assert part.radio_mw == pytest.approx(whole.radio_mw * 0.75 * 0.5)
    assert (part.processor_mw, part.idle_mw) == (whole.processor_mw, whole.idle_mw)


def test_shared_bits_go_out_whichever_columns_are_wanted():
    times = Program("vehicles", ("speed", "length"), bits=36, shared_bits=36)
    assert times.count_bits(("speed",)) == 36.0
    assert Program("p", ("a", "b"), bits=30, shared_bits=10).count_bits(("a", "unknown")) == 20.0


@pytest.mark.parametrize("wrong", [{"battery_mah": 0.0}, {"active_mw": 0.01}, {"idle_mw": -1.0}])
def test_impossible_hardware_is_refused(wrong):
    with pytest.raises(OptionError, match=r"power model|active processor"):
        PowerModel(**wrong)


@pytest.mark.parametrize("wrong", [{"bits": -1}, {"bits": 8, "shared_bits": 9}, {"bits": 8, "readings_per_s": -1.0}])
def test_program_that_costs_less_than_nothing_is_refused(wrong):
    with pytest.raises(OptionError, match="program p "):
        Program("p", ("a",), **wrong)


def test_sleeping_sensor_takes_idle_power_and_what_it_takes_to_look_in():
    power = PowerModel(listening_mw=9.0).sleeping_power(Micros(2_000_000), bits=16, listening=0.01)
    assert power.total_mw == pytest.approx(0.03 + 16 * 4.31e-3 / 2 + 0.09)
    with pytest.raises(OptionError, match="looks in after some time; got 0"):
        MODEL.sleeping_power(Micros(0), bits=16)


def test_shares_are_between_none_and_all():
    assert Usage(passing=0.0).count_bits(RAW) == 0.0
    with pytest.raises(OptionError, match="passing is a share"):
        Usage(passing=1.5)
    assert EVERYTHING.count_bits(RAW) == 16.0


def test_meter_runs_a_battery_down_to_nothing():
    meter = EnergyMeter()
    meter.spend(seconds=86_400.0 * 695)
    assert meter.battery == 0.0
    with pytest.raises(OptionError, match="less than nothing"):
        meter.spend(seconds=-1.0)
