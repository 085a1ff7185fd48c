import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.time import MICROS, Micros
from skerry.sensors.power import PowerModel
from skerry.sensors.traffic import accuracy
from skerry.sensors.traffic.loops import Covers, Passages, SampleClock, sample
from skerry.sensors.traffic.pair import LoopPair
from skerry.sensors.traffic.programs import COUNTS, PROGRAMS, RAW, VEHICLES
from skerry.sensors.traffic.vehicle_program import VehicleProgram
from skerry.sources.sim.traffic.columns import COLUMNS

MICROSECOND_FEET = 0.001
"""Times are whole microseconds: what a fast vehicle travels in a few of them."""


@given(
    st.floats(10.0, 130.0),
    st.floats(1.0, 5.0),
    st.floats(5.0, 20.0),
    st.integers(500, 100_000),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
)
def test_errors_stay_within_their_bounds(feet_per_s, lengths, distance, period_us, phases):
    feet, hz = lengths * distance, MICROS["SECOND"] / period_us
    passages = Passages(np.array([2_000_000]), np.array([feet_per_s]), np.array([feet]))
    upstream, downstream = (
        see(passages.cover(at), SampleClock(Micros(period_us), Micros(phase % period_us)))
        for at, phase in zip((0.0, distance), phases, strict=True)
    )
    found = LoopPair(distance).measure(upstream, downstream)
    if feet_per_s / hz < distance and found.feet.size and not np.isnan(found.feet[0]):
        speed_bound = accuracy.bound_speed(feet_per_s, distance, hz)
        assert abs(found.feet_per_s[0] - feet_per_s) <= speed_bound * 1.01 + MICROSECOND_FEET
        assert abs(found.feet[0] - feet) <= accuracy.bound_length(feet, feet_per_s, distance, hz) * 1.01 + 0.01
    known = (upstream.off_us - upstream.on_us) / MICROS["SECOND"] * feet_per_s
    assert (abs(known - feet) <= accuracy.bound_length_at_known_speed(feet_per_s, hz) + MICROSECOND_FEET).all()


def see(covers: Covers, clock: SampleClock) -> Covers:
    """What a mote makes of the next minute."""
    return VehicleProgram(clock).take(sample(covers, clock, 0, 60 * MICROS["SECOND"] // clock.period_us))


@given(st.floats(0.1, 5.0), st.floats(10.0, 60.0), st.floats(10.0, 130.0), st.floats(2.0, 10.0))
def test_rate_for_an_accuracy_gives_that_accuracy(feet_wanted, feet, feet_per_s, distance):
    hz = accuracy.find_rate(feet_wanted, feet, feet_per_s, distance)
    assert accuracy.bound_length(feet, feet_per_s, distance, hz) == pytest.approx(feet_wanted)
    hz = accuracy.find_rate_at_known_speed(feet_wanted, feet_per_s)
    assert accuracy.bound_length_at_known_speed(feet_per_s, hz) == pytest.approx(feet_wanted)


def test_nothing_is_known_where_a_vehicle_goes_the_distance_in_a_period():
    assert accuracy.bound_speed(100.0, 10.0, 10.0) == float("inf")


def test_programs_deliver_columns_of_the_traffic_source_and_the_cheaper_ones_fewer():
    assert set(COUNTS.columns) < set(VEHICLES.columns) < set(RAW.columns) == set(COLUMNS)
    costs = [PowerModel().power(program, 180.0).total_mw for program in PROGRAMS]
    assert costs == sorted(costs)
