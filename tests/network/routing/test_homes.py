from math import dist

from skerry.network.routing.homes import Homes
from skerry.network.topology.read_topology import read_topology


def test_home_is_the_mote_nearest_to_the_position_of_its_key():
    field = read_topology("geometric:60:0.3:4")
    homes = Homes(field)
    for key in range(100):
        where = homes.position(("key", key))
        distances = [dist(position, where) for position in field.positions]
        assert distances[homes.home(("key", key))] == min(distances)


def test_keys_are_spread_over_all_motes_without_positions():
    homes = Homes(read_topology("tree:10:3"))
    assert {homes.home(("key", key)) for key in range(500)} == set(range(10))


def test_home_does_not_depend_on_the_process():
    assert [Homes(read_topology("grid:7x7")).home((name, 3)) for name in ("veh", "H", "J")] == [17, 4, 25]
