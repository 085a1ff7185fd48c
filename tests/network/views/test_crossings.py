"""What goes along a level and what walks across levels meet at exactly one mote, on any connected topology."""

import pytest

from skerry.network.routing.delivery_tree import DeliveryTree
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology
from skerry.network.views.crossings import choose_crossings
from skerry.network.views.deliveries import Deliveries
from skerry.network.views.way import TREE_WAYS

TOPOLOGIES = ("grid:4x6", "grid:1x5", "geometric:40:0.25:1", "holes:60:0.25:2", "tree:30:3:1", "grid:1x1")


def check_tree(tree: DeliveryTree, topology: Topology) -> None:
    """It goes over links, to nobody twice, and to all that are to keep it."""
    assert all(child in topology.neighbours[mote] for child, mote in tree.parents.items())
    assert len(tree.order) == len(set(tree.order))
    assert tree.keeps <= set(tree.order)


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_a_level_and_a_walk_meet_at_one_mote(text: str) -> None:
    topology = read_topology(text)
    crossings = choose_crossings(topology)
    levels = [crossings.find_level(mote).keeps for mote in range(len(topology))]
    walks = [crossings.find_walk(mote).keeps for mote in range(len(topology))]
    for one, level in enumerate(levels):
        assert all(level & walk == {crossings.find_meeting(one, other)} for other, walk in enumerate(walks))


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_rows_go_over_links_to_all_that_keep_them(text: str) -> None:
    topology = read_topology(text)
    deliveries = Deliveries(topology, seed=1)
    for way in TREE_WAYS:
        for mote in range(len(topology)):
            check_tree(deliveries.find(way, mote), topology)


def test_levels_of_a_grid_are_its_rows_or_columns() -> None:
    crossings = choose_crossings(read_topology("grid:4x6"))
    assert sorted(map(len, {crossings.find_level(mote).keeps for mote in range(24)})) in ([6] * 4, [4] * 6)
