import pytest

from skerry.network.message import Kind
from skerry.network.topology.topology import Topology
from tests.network.logs import make_logs, say


def test_hidden_motes_that_overlap_are_both_lost_between_them():
    network, logs = make_logs(collisions=True, least_delay_us=0, most_delay_us=0)
    network.boards[0].broadcast(say("left"))
    network.boards[2].broadcast(say("right"))
    network.simulation.run()
    assert logs[1].heard == []
    assert (network.radio.collisions, network.radio.tally.total) == (2, 2)


def test_motes_that_hear_each_other_wait():
    triangle = Topology.of_links(3, [(0, 1), (1, 2), (0, 2)])
    network, logs = make_logs(triangle, collisions=True)
    for board in network.boards:
        board.broadcast(say(board.mote))
    network.simulation.run()
    assert [sorted(entry[2] for entry in log.heard) for log in logs] == [[1, 2], [0, 2], [0, 1]]


def test_transmissions_one_after_the_other_are_heard_in_order():
    network, logs = make_logs(collisions=True)
    for number in range(20):
        network.boards[0].send(1, say(number))
    network.simulation.run()
    assert [entry[2] for entry in logs[1].heard] == list(range(20))


@pytest.mark.parametrize("seed", range(5))
def test_retries_make_up_for_collisions_and_keep_the_order(seed):
    network, logs = make_logs(seed=seed, collisions=True, retries=50, loss=0.2)
    for number in range(20):
        network.boards[0].send(1, say(number))
        network.boards[2].send(1, say(number))
    network.simulation.run()
    for sender in (0, 2):
        assert [entry[2] for entry in logs[1].heard if entry[1] == sender] == list(range(20))
    assert network.radio.tally.by_kind[Kind.RETRY] > 0
