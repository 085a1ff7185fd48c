import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.errors import OptionError
from skerry.model.time import Micros
from skerry.sensors.traffic.count_program import CountProgram
from skerry.sensors.traffic.loops import Covers, SampleClock, sample
from skerry.sensors.traffic.pair import LoopPair
from skerry.sensors.traffic.readings import read_counts, read_samples, read_vehicles
from skerry.sensors.traffic.vehicle_program import VehicleProgram
from tests.oracles import loops as oracle

clocks = st.builds(SampleClock, st.integers(1, 1_500_000).map(Micros), st.integers(-2_000_000, 2_000_000).map(Micros))
signals = st.lists(st.booleans(), max_size=40)
cuts = st.lists(st.integers(0, 40), max_size=4)
spans = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60)), max_size=6)


def to_covers(found: list[tuple[int, int]]) -> Covers:
    return Covers(*np.array(found, np.int64).reshape(-1, 2).T)


def to_pairs(covers: Covers) -> list[tuple[int, int]]:
    return list(zip(covers.on_us.tolist(), covers.off_us.tolist(), strict=True))


def cut(signal: list[bool], at: list[int]) -> list[np.ndarray]:
    return np.split(np.array(signal, bool), sorted(at))


@given(spans, st.integers(1, 30), st.integers(-40, 40), st.integers(-5, 20))
def test_loop_is_covered_at_a_sample_if_any_vehicle_is_over_it(lengths, period, phase, first):
    covers = [(on, on + length) for on, length in lengths]
    clock = SampleClock(Micros(period), Micros(phase))
    times_us = clock.read_time(np.arange(first, first + 30)).tolist()
    assert sample(to_covers(covers), clock, first, 30).tolist() == oracle.sample(covers, times_us)


@given(signals, cuts, clocks)
def test_vehicles_are_the_same_however_samples_are_cut(signal, at, clock):
    program = VehicleProgram(clock)
    found = [pair for part in cut(signal, at) for pair in to_pairs(program.take(part))]
    assert found == oracle.find_vehicles(clock.read_time(np.arange(len(signal))).tolist(), signal)


@given(signals, cuts, clocks)
def test_counts_are_the_same_however_samples_are_cut(signal, at, clock):
    program = CountProgram(clock)
    given_counts = [program.take(part) for part in cut(signal, at)] + [program.finish()]
    found = [pair for each in given_counts for pair in zip(each.second_us, each.vehicles, strict=True)]
    times_us = clock.read_time(np.arange(len(signal))).tolist()
    assert found == list(oracle.count_vehicles(times_us, signal).items())


@given(signals, signals, clocks, clocks)
def test_pair_matches_as_one_vehicle_after_the_other_would(up, down, up_clock, down_clock):
    upstream, downstream = VehicleProgram(up_clock).take(np.array(up, bool)), VehicleProgram(down_clock)
    below = downstream.take(np.array(down, bool))
    found = LoopPair(10.0).measure(upstream, below)
    expected = oracle.match_pair(to_pairs(upstream), to_pairs(below), 10.0)
    for speed, feet, known in zip(found.feet_per_s, found.feet, expected, strict=True):
        assert np.isnan(speed) and np.isnan(feet) if known is None else (speed, feet) == pytest.approx(known)


@given(signals, signals, clocks)
def test_all_programs_say_the_same_of_the_same_vehicles(up, down, clock):
    """The loop is free at the end: a vehicle that is still there is counted, but not known yet."""
    upstream, downstream = np.array([*up, False], bool), np.array([*down, False], bool)
    pair, program = LoopPair(10.0), CountProgram(clock)
    raw = read_samples(upstream, downstream, (clock, clock), pair)
    vehicles = read_vehicles(pair.measure(VehicleProgram(clock).take(upstream), VehicleProgram(clock).take(downstream)))
    counted = [read_counts(program.take(upstream)), read_counts(program.finish())]
    assert raw.flow.sum() == vehicles.flow.sum() == sum(each.flow.sum() for each in counted)
    for of_samples, of_vehicles in ((raw.speed, vehicles.speed), (raw.length, vehicles.length)):
        assert of_samples[~np.isnan(of_samples)].tolist() == of_vehicles[~np.isnan(of_vehicles)].tolist()
    assert raw.occupancy.sum() == upstream.sum()


def test_clock_and_pair_that_cannot_be_are_refused():
    with pytest.raises(OptionError, match="one microsecond or more; got 0"):
        SampleClock(Micros(0))
    with pytest.raises(OptionError, match=r"some distance apart; got 0\.0"):
        LoopPair(0.0)
