import pytest

from skerry.errors import InputError, RunError
from skerry.network.network import Network
from skerry.network.routing.shortest_paths import ShortestPaths
from skerry.network.topology.grid import make_grid
from tests.network.logs import make_logs, say


def test_clocks_differ_by_the_skew_at_most():
    clocks = [board.clock for board in Network(make_grid(5, 5), most_skew_us=500).boards]
    assert 0 < max(clocks) - min(clocks) <= 500


def test_dead_mote_neither_hears_nor_sends_nor_wakes():
    network, logs = make_logs()
    network.boards[1].wake(100, network.boards[1].broadcast, say("too late"))
    network.boards[0].broadcast(say("hello"))
    network.kill(1)
    network.boards[1].broadcast(say("dead"))
    network.simulation.run()
    assert [log.heard for log in logs] == [[], [], []]


@pytest.mark.parametrize("collisions", [False, True])
def test_revived_mote_has_a_fresh_program_and_no_old_alarms(collisions):
    network, logs = make_logs(collisions=collisions)
    network.boards[1].wake(100, network.boards[1].broadcast, say("old alarm"))
    network.boards[1].broadcast(say("before"))
    network.simulation.run(until=50)
    network.kill(1)
    fresh = network.revive(1)
    network.boards[0].broadcast(say("welcome"))
    network.simulation.run()
    assert [entry[2] for entry in fresh.heard] == ["welcome"]
    assert fresh is not logs[1]
    assert "old alarm" not in [entry[2] for entry in logs[0].heard]


def test_living_mote_cannot_be_revived():
    network, _ = make_logs()
    with pytest.raises(RunError, match="mote 1 is alive"):
        network.revive(1)


def test_links_come_and_go_and_programs_are_informed():
    network, logs = make_logs()
    changes = []
    network.boards[0].on_link = lambda other, is_up: changes.append((other, is_up))
    network.cut(0, 1)
    network.join(0, 2)
    network.boards[2].broadcast(say("hello"))
    network.simulation.run()
    assert changes == [(1, False), (2, True)]
    assert [len(log.heard) for log in logs] == [1, 1, 0]
    with pytest.raises(InputError, match="cannot reach"):
        network.boards[0].send(1, say())


def test_routes_follow_links():
    network, _ = make_logs()
    paths = ShortestPaths(network.topology)
    assert paths.path(0, 2) == [0, 1, 2]
    network.join(0, 2)
    paths.change_links(network.topology)
    assert paths.path(0, 2) == [0, 2]
