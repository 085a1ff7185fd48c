import pytest

from skerry.network.network import Network
from skerry.network.radio import RadioSettings
from skerry.network.routing.build_tree import TreeProgram, build_tree
from skerry.network.topology.read_topology import read_topology


@pytest.mark.parametrize("settle_us", [None, 0, 1_000])
@pytest.mark.parametrize("text", ["grid:6x6", "geometric:60:0.25:3", "tree:40:3:1"])
def test_tree_by_messages_is_breadth_first_without_loss(text, settle_us):
    network = Network(read_topology(text), seed=5)
    tree, _ = build_tree(network, 0, settle_us)
    assert tree.depths == network.topology.distances_from(0)


def test_parents_know_their_children_without_loss():
    network = Network(read_topology("grid:5x5"), seed=2)
    programs = network.install(lambda board: TreeProgram(board, settle_us=0))
    programs[12].start()
    network.simulation.run()
    for mote, program in enumerate(programs):
        assert program.children == {other for other, one in enumerate(programs) if one.parent == mote}


def test_lost_messages_leave_motes_outside():
    network = Network(read_topology("grid:5x5"), RadioSettings(loss=1.0))
    tree, _ = build_tree(network, 0)
    assert tree.depths.count(-1) == 24
    assert network.radio.tally.total == 1


@pytest.mark.parametrize("seed", range(3))
def test_refreshes_heal_what_was_lost(seed):
    network = Network(read_topology("grid:6x6"), RadioSettings(loss=0.3), seed)
    tree, _ = build_tree(network, 0, refreshes=12)
    assert tree.depths == network.topology.distances_from(0)


def test_refreshes_end():
    network = Network(read_topology("grid:4x4"))
    build_tree(network, 0, refreshes=3)
    assert network.radio.tally.total == 4 * 16
