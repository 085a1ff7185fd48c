import numpy as np
import pytest

from skerry.sources.sim.traffic.road import POSITIONS, SIDES, Road


def test_thirty_two_stations_are_sixteen_pairs_on_eight_segments():
    road = Road(32, 4)
    assert road.pairs == 16
    assert np.bincount(road.segments).tolist() == [0] + [4] * 8


def test_names_say_side_segment_and_position():
    road = Road(32, 4)
    station = road.names.index("i80-w-07-d")
    assert (SIDES[road.sides[station]], POSITIONS[road.positions[station]]) == ("west", "downstream")
    assert road.segments[station] == 7


@pytest.mark.parametrize("sensors", [2, 3, 32, 4001])
def test_every_station_has_a_name_of_its_own(sensors):
    assert len(set(Road(sensors, 4).names)) == sensors


def test_a_longer_road_begins_with_the_shorter_one():
    short, long = Road(32, 4), Road(100, 4)
    assert long.names[:32] == short.names
    assert (long.latitudes[:32] == short.latitudes).all()


def test_eastbound_traffic_goes_north_past_berkeley():
    road = Road(32, 4)
    east, west = road.latitudes[0:2], road.latitudes[2:4]
    assert east[0] < east[1]
    assert west[0] > west[1]
    assert 37.8 < road.latitudes.min() < road.latitudes.max() < 37.9


def test_the_longest_road_stays_on_earth():
    road = Road(100_000, 4)
    assert abs(road.latitudes).max() < 90
    assert abs(road.longitudes).max() < 180
