import numpy as np
import pytest

from skerry.experiments.snjoin.clustered_load import REACH, find_operation_us, make_clustered


def test_every_sensor_is_in_reach_of_its_head_and_a_head_is_its_own():
    positions = np.random.default_rng(1).random((300, 2))
    head_of = make_clustered(300, seconds=1).head_of
    assert np.hypot(*(positions - positions[head_of]).T).max() <= REACH
    assert (head_of[head_of] == head_of).all()


def test_sensors_of_different_regions_share_no_value():
    clustered = make_clustered(200, seconds=5, regions_a_side=2)
    positions = np.random.default_rng(1).random((200, 2))
    regions = (positions[:, 0] > 0.5) * 2 + (positions[:, 1] > 0.5)
    of_tuples = regions[clustered.load.sensors]
    values = [set(clustered.load.keys[of_tuples == region].tolist()) for region in range(4)]
    assert all(values)
    assert len(set().union(*values)) == sum(map(len, values))


def test_heads_are_slower_the_larger_the_overload():
    clustered = make_clustered(50, seconds=70)
    assert find_operation_us(clustered, 3.0) == pytest.approx(2 * find_operation_us(clustered, 1.5), rel=0.01)
