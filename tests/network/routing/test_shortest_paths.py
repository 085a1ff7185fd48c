from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.routing.tree import find_tree
from skerry.network.topology.topology import Topology

GRAPHS = st.integers(2, 12).flatmap(
    lambda size: st.sets(
        st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda link: link[0] != link[1])
    ).map(lambda links: Topology.of_links(size, links))
)


@given(GRAPHS)
@settings(max_examples=50, deadline=None)
def test_paths_are_as_short_as_the_distance_and_follow_links(topology):
    paths = ShortestPaths(topology)
    for here in range(len(topology)):
        for target, hops in enumerate(topology.distances_from(here)):
            path = paths.path(here, target)
            assert (path is None) == (hops < 0)
            if path is not None:
                assert len(path) == hops + 1
                assert all(after in topology.neighbours[one] for one, after in pairwise(path))


@given(GRAPHS)
@settings(max_examples=50, deadline=None)
def test_tree_is_breadth_first(topology):
    tree = find_tree(topology, 0)
    assert tree.depths == topology.distances_from(0)


def test_router_knows_what_its_mote_knows():
    line = Topology.of_links(3, [(0, 1), (1, 2)])
    router = ShortestPaths(line).router(1)
    assert [router.next_hop(target) for target in range(3)] == [0, None, 2]
