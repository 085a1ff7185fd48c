import pytest

from skerry.errors import InputError
from skerry.network.message import Kind
from skerry.network.radio import RadioSettings
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology
from tests.network.logs import make_logs, say


def test_broadcast_is_one_transmission_heard_by_all_neighbours():
    network, logs = make_logs()
    network.boards[1].broadcast(say("hello"))
    network.simulation.run()
    assert [[entry[1:] for entry in log.heard] for log in logs] == [[(1, "hello")], [], [(1, "hello")]]
    tally = network.radio.tally
    assert (tally.total, tally.by_kind, tally.bytes_by_mote) == (1, {Kind.JOIN: 1}, [0, 20, 0])
    assert tally.bytes_heard_by_mote == [20, 0, 20]


def test_links_are_first_in_first_out():
    network, logs = make_logs()
    for number in range(50):
        network.boards[1].send(0, say(number))
        network.simulation.run(until=network.simulation.now + 1_000)
    network.simulation.run()
    assert [entry[2] for entry in logs[0].heard] == list(range(50))


def test_delays_lie_within_bounds():
    network, logs = make_logs(least_delay_us=100, most_delay_us=200)
    for number in range(100):
        network.simulation.at(1_000 * number, network.boards[1].broadcast, say(1_000 * number))
    network.simulation.run()
    assert all(100 <= clock - sent <= 200 for clock, _, sent in logs[0].heard)
    assert len({clock - sent for clock, _, sent in logs[0].heard}) > 10


def test_same_seed_gives_the_same_run():
    def run(seed):
        network, logs = make_logs(make_grid(4, 4), seed, loss=0.3)
        for board in network.boards:
            board.broadcast(say(board.mote))
        network.simulation.run()
        return [log.heard for log in logs]

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_loss_is_drawn_per_receiver():
    network, logs = make_logs(make_grid(1, 3), loss=0.5)
    for number in range(200):
        network.boards[1].broadcast(say(number))
    network.simulation.run()
    left, right = ({entry[2] for entry in logs[mote].heard} for mote in (0, 2))
    assert 60 < len(left) < 140
    assert left != right


def test_loss_of_a_link_goes_before_that_of_the_radio():
    line = Topology.of_links(3, [(0, 1), (1, 2)], losses={(1, 0): 0.0, (1, 2): 1.0})
    network, logs = make_logs(line, loss=0.5)
    for number in range(50):
        network.boards[1].broadcast(say(number))
    network.simulation.run()
    assert (len(logs[0].heard), len(logs[2].heard)) == (50, 0)


def test_retries_make_up_for_loss_and_are_counted():
    network, logs = make_logs(loss=0.5, retries=20)
    for number in range(100):
        network.boards[1].send(0, say(number))
    network.simulation.run()
    assert [entry[2] for entry in logs[0].heard] == list(range(100))
    assert 50 < network.radio.tally.by_kind[Kind.RETRY] < 200


def test_dead_receiver_hears_nothing_and_costs_all_retries():
    network, logs = make_logs(retries=3)
    network.radio.attach(0, None)
    network.boards[1].send(0, say())
    network.simulation.run()
    assert (logs[0].heard, network.radio.tally.by_kind[Kind.RETRY]) == ([], 3)


def test_mote_out_of_reach_is_refused():
    network, _ = make_logs()
    with pytest.raises(InputError, match="mote 0 cannot reach 2; its neighbours"):
        network.boards[0].send(2, say())


def test_message_that_could_be_changed_is_refused():
    with pytest.raises(InputError, match="a message holds"):
        say([1])


@pytest.mark.parametrize(
    "wrong", [{"loss": 1.5}, {"least_delay_us": 30_000}, {"retries": -1}, {"collisions": True, "duplication": 0.1}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError):
        RadioSettings(**wrong)
