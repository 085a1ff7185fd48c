from random import Random

import pytest

from skerry.network.aggregation.aggregates import find_aggregate
from skerry.network.aggregation.program import AggregateProgram
from skerry.network.aggregation.slots import plan_slots
from skerry.network.clusters.heed import HeedProgram, HeedSettings
from skerry.network.network import Network
from skerry.network.routing.build_tree import TreeProgram
from skerry.network.topology.grid import make_grid
from tests.network.shared_state import find_shared


class Gossip:
    """Two motes with one list: what must not be."""

    def __init__(self, board, heard):
        self.board, self.known = board, heard

    def receive(self, sender, message):
        self.known.append(message)


def run_trees(network):
    programs = network.install(lambda board: TreeProgram(board, settle_us=0))
    programs[0].start()
    return programs


def run_heed(network):
    programs = network.install(lambda board: HeedProgram(board, 1.0, HeedSettings(), 20_001, Random(board.mote)))
    for program in programs:
        program.start()
    return programs


def run_aggregates(network):
    slots, depths = plan_slots(network, 4), network.topology.distances_from(0)
    programs = network.install(
        lambda board: AggregateProgram(
            board, find_aggregate("avg"), slots, depths[board.mote], None, lambda _: ((), 1.5)
        )
    )
    for program in programs:
        program.start(2)
    return programs


@pytest.mark.parametrize("run", [run_trees, run_heed, run_aggregates])
def test_motes_share_nothing_but_messages(run):
    network = Network(make_grid(3, 3))
    programs = run(network)
    network.simulation.run(until=150_000)
    assert find_shared(programs) == []
    assert network.radio.tally.total > 0


def test_shared_state_is_found():
    heard = []
    assert find_shared(Network(make_grid(1, 2)).install(lambda board: Gossip(board, heard))) == [[]]
