from tests.network.logs import make_logs, say


def send_hundred(**settings):
    network, logs = make_logs(**settings)
    for number in range(100):
        network.simulation.at(1_000 * number, network.boards[1].send, 0, say(number))
    network.simulation.run()
    return [entry[2] for entry in logs[0].heard]


def test_duplicates_are_heard_again():
    heard = send_hundred(duplication=0.3)
    assert set(heard) == set(range(100))
    assert 110 < len(heard) < 160


def test_reordering_loses_nothing_and_changes_the_order():
    heard = send_hundred(reordering=0.3)
    assert sorted(heard) == list(range(100))
    assert heard != sorted(heard)
