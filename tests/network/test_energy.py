import pytest

from skerry.network.energy import Energy
from skerry.sensors.power import PowerModel
from tests.network.logs import make_logs, say


def test_sending_costs_what_table_1_says():
    network, _ = make_logs()
    network.boards[0].broadcast(say())
    network.simulation.run()
    meter = Energy(network).read_meter(0)
    assert meter.radio_mj == pytest.approx(20 * 8 * 4.31e-3)
    assert meter.processor_mj == pytest.approx(20 * 8 * 6.0 / 40_000)


def test_receiving_costs_the_processor_only():
    network, _ = make_logs()
    network.boards[0].broadcast(say())
    network.simulation.run()
    meter = Energy(network).read_meter(1)
    assert (meter.radio_mj, meter.processor_mj) == (0.0, pytest.approx(20 * 8 * 6.0 / 40_000))


def test_total_is_the_sum_over_motes():
    network, _ = make_logs()
    network.boards[1].broadcast(say())
    network.simulation.run(until=1_000_000)
    energy = Energy(network)
    assert energy.total_mj == pytest.approx(sum(energy.energy_mj(mote) for mote in range(3)))


def test_mote_with_an_empty_battery_dies():
    network, _ = make_logs()
    energy = Energy(network, PowerModel(battery_mah=1e-5))  # 0.18 mJ: not enough for a message of 20 bytes
    energy.watch(period_us=1_000, until=10_000)
    network.boards[0].broadcast(say())
    network.simulation.run(until=10_000)
    assert [board.is_alive for board in network.boards] == [False, True, True]


def test_dead_mote_uses_nothing_more():
    network, _ = make_logs()
    network.simulation.run(until=1_000_000)
    network.kill(0)
    network.simulation.run(until=5_000_000)
    energy = Energy(network)
    assert energy.energy_mj(0) == pytest.approx(energy.energy_mj(1) / 5)
