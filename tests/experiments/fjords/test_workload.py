import numpy as np

from skerry.experiments.fjords.workload import PAIR_FEET, draw_cars, draw_traffic, measure
from skerry.sensors.traffic.loops import Passages
from skerry.sensors.traffic.pair import MPH


def test_what_is_measured_nears_the_truth_as_motes_sample_faster():
    found = measure(draw_cars(pairs=2, cars=20), 10.0, 20_000.0)
    assert not np.isnan(found.length_error).any()
    assert np.abs(found.length_error).max() < 0.01
    assert np.abs(found.speed_error).max() < 0.1 * MPH


def test_vehicle_that_no_sample_sees_is_not_measured():
    """Two cars, and between them a thing so short and fast that few sample periods see it."""
    lane = Passages(np.array([1_000_000, 2_000_000, 3_000_000]), np.full(3, 100.0), np.array([15.0, 0.001, 15.0]))
    assert np.isnan(measure([lane], 5.0, 50.0).length_error).tolist() == [False, True, False]


def test_traffic_can_be_told_apart_by_its_loops():
    for lane in draw_traffic(minutes=2):
        for covers in (lane.cover(), lane.cover(PAIR_FEET)):
            assert (covers.on_us[1:] - covers.off_us[:-1] >= 50_000).all()
        assert (lane.feet > PAIR_FEET).all()
