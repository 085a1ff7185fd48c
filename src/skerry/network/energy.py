"""What motes use: energy by the power model of sensors, from what a network's tally has counted."""

from skerry.network.network import Network
from skerry.sensors.energy_meter import EnergyMeter
from skerry.sensors.power import PowerModel

__all__ = ["Energy"]


class Energy:
    """Millijoules per mote since the network began, and batteries that run out.

    Table 1 of the Fjords paper has 4.31 uJ per bit sent, and nothing for reception. Here the processor is active while
    a bit is sent or received (25 us at 40 kbit/s: 0.15 uJ), idle the rest of its life, and the receiver takes
    ``listening_mw`` of the model all the time: 0 unless it is given.

    >>> from skerry.network.message import Kind, Message
    >>> from skerry.network.topology.grid import make_grid
    >>> network = Network(make_grid(1, 2))
    >>> network.boards[0].broadcast(Message(Kind.CONTROL, (), 100))
    >>> network.simulation.run(until=1_000_000)
    >>> energy = Energy(network)
    >>> round(energy.energy_mj(0), 3), round(energy.energy_mj(1), 3), round(energy.total_mj, 3)
    (3.597, 0.03, 3.627)
    """

    def __init__(self, network: Network, model: PowerModel | None = None) -> None:
        self.model = model or PowerModel()
        self._network = network

    def read_meter(self, mote: int) -> EnergyMeter:
        """What a mote has used so far, by component."""
        tally, meter = self._network.radio.tally, EnergyMeter(self.model)
        sent, heard = 8 * tally.bytes_by_mote[mote], 8 * tally.bytes_heard_by_mote[mote]
        seconds = self._network.boards[mote].alive_us / 1e6
        cycles = (sent + heard) * self.model.clock_hz / self._network.radio.settings.bits_per_second
        meter.spend(seconds=seconds, cycles=cycles, bits=sent, listening_s=seconds)
        return meter

    def energy_mj(self, mote: int) -> float:
        """What a mote has used so far."""
        return self.read_meter(mote).total_mj

    @property
    def total_mj(self) -> float:
        """What all have used so far."""
        return sum(map(self.energy_mj, range(len(self._network.boards))))

    def watch(self, period_us: int, until: int) -> None:
        """Look at all batteries every ``period_us`` up to a time; a mote whose battery is empty dies then."""
        simulation = self._network.simulation
        for time in range(simulation.now + period_us, until + 1, period_us):
            simulation.at(time, self._kill_empty)

    def _kill_empty(self) -> None:
        for board in self._network.boards:
            if board.is_alive and self.read_meter(board.mote).battery <= 0.0:
                self._network.kill(board.mote)
