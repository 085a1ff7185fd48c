from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import InputError
from skerry.network.routing.geographic import find_route
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology


@pytest.mark.parametrize("text", ["grid:5x5", "geometric:40:0.3:1", "holes:50:0.2:2"])
def test_every_pair_is_reached_over_links(text):
    topology = read_topology(text)
    links = set(topology.links)
    for start in range(len(topology)):
        for target in range(len(topology)):
            route = find_route(topology, start, target)
            assert route is not None
            assert (route[0], route[-1]) == (start, target)
            assert set(pairwise(route)) <= links


@given(
    st.integers(2, 9).flatmap(
        lambda size: st.tuples(
            st.sets(
                st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda link: link[0] < link[1])
            ),
            st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=size, max_size=size),
        )
    )
)
@settings(max_examples=40, deadline=None)
def test_a_route_is_found_where_there_is_one_whatever_the_positions(drawn):
    links, positions = drawn
    topology = Topology.of_links(len(positions), links, positions)
    for target, hops in enumerate(topology.distances_from(0)):
        assert (find_route(topology, 0, target) is None) == (hops < 0)


def test_greedy_routes_over_a_grid_are_shortest():
    grid = read_topology("grid:6x6")
    for target, hops in enumerate(grid.distances_from(0)):
        assert len(find_route(grid, 0, target)) == hops + 1


def test_positions_are_needed():
    with pytest.raises(InputError, match="tree:3:2 has none"):
        find_route(read_topology("tree:3:2"), 0, 2)
