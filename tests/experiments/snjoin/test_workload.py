import numpy as np
import pytest

from skerry.experiments.snjoin.workload import RANK_COUNT, WINDOW_US, Values, generate, make_churning, make_steady
from skerry.model.time import MICROS, seconds


def test_sensors_have_the_rate_that_is_asked_for():
    load = generate(make_steady(20, seconds=50), 100, Values())
    per_sensor = np.bincount(load.sensors) / 50
    assert per_sensor.size == 20
    assert np.abs(per_sensor - 100).max() < 10


def test_intervals_are_exponential():
    intervals = np.diff(generate(make_steady(1, seconds=300), 100, Values()).times)
    assert intervals.mean() == pytest.approx(10_000, rel=0.05)
    assert intervals.std() == pytest.approx(intervals.mean(), rel=0.05)


def test_tuples_come_in_order_of_time_and_before_the_end():
    load = generate(make_steady(7, seconds=5), 50, Values())
    assert (np.diff(load.times) >= 0).all()
    assert load.times[-1] < load.end_us == seconds(5)


def test_load_is_the_same_again_with_the_same_seed():
    one, other = (generate(make_steady(3, seconds=5), 50, Values(seed=4)) for _ in range(2))
    assert one.keys.tolist() == other.keys.tolist()


def test_likeliest_values_are_those_of_zipf_with_some_exponent_from_1_to_5():
    load = generate(make_steady(10, seconds=100), 100, Values())
    expected = [1 / (np.arange(1.0, RANK_COUNT + 1) ** -exponent).sum() for exponent in range(1, 6)]
    for sensor in range(10):
        share = (load.keys[load.sensors == sensor] == 0).mean()
        assert min(abs(share - of) for of in expected) < 0.02


def test_values_of_a_rank_are_gone_through_in_turn():
    load = generate(make_steady(1, seconds=60), 100, Values(values_a_rank=10))
    first_rank = load.keys[load.keys < 10]
    assert len(set(first_rank[:10])) == 10
    assert first_rank[:10].tolist() == first_rank[10:20].tolist()


def test_sensors_that_are_steady_live_all_the_time():
    assert {(sensor.start_us, sensor.end_us) for sensor in make_steady(5, 60)} == {(0, WINDOW_US)}


def test_every_minute_some_sensors_come_or_go():
    lifetimes = make_churning(300, seconds=301, seed=3)
    for moment in range(MICROS["MINUTE"], seconds(301), MICROS["MINUTE"]):
        changed = sum(moment in (sensor.start_us, sensor.end_us) for sensor in lifetimes)
        assert 1 <= changed <= 100


def test_sensors_that_left_are_not_heard():
    lifetimes = make_churning(300, seconds=200, seed=3)
    load = generate(lifetimes, 1, Values())
    starts, ends = (np.array([getattr(sensor, side) for sensor in lifetimes]) for side in ("start_us", "end_us"))
    assert (ends < load.end_us).any()
    assert ((load.times >= starts[load.sensors]) & (load.times < ends[load.sensors])).all()


def test_one_sensor_is_always_left():
    lifetimes = make_churning(2, seconds=1_000, seed=5)
    assert any(sensor.end_us == seconds(1_000) for sensor in lifetimes)
