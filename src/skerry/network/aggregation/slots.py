"""When motes speak in an epoch: the deepest first, so that everybody has heard those below before it is its turn."""

from dataclasses import dataclass

from skerry.model.time import Micros
from skerry.network.network import Network

__all__ = ["Slots", "plan_slots"]


@dataclass(frozen=True)
class Slots:
    """Epochs from a time on, each with a slot per depth. All times are those of a mote's own clock.

    >>> slots = Slots(begin_us=0, slot_us=10, depth=2)
    >>> slots.time_of(epoch=0, depth=2), slots.time_of(epoch=0, depth=0), slots.time_of(epoch=1, depth=2)
    (0, 20, 30)
    """

    begin_us: int
    slot_us: int
    depth: int

    def time_of(self, epoch: int, depth: int) -> Micros:
        """When a mote of a depth speaks."""
        return Micros(self.begin_us + (epoch * (self.depth + 1) + self.depth - depth) * self.slot_us)


def plan_slots(network: Network, depth: int) -> Slots:
    """Slots as long as the longest hop, with all retries, and the largest difference between clocks."""
    settings, skew_us = network.radio.settings, network.most_skew_us
    hop_us = (settings.retries + 1) * settings.most_delay_us
    return Slots(network.simulation.now + skew_us, hop_us + skew_us + 1, depth)
