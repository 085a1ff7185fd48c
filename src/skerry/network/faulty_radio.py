"""A radio that also duplicates and reorders: what programs must bear though a single link does not do it."""

from skerry.network.message import Message
from skerry.network.radio import Radio

__all__ = ["FaultyRadio"]

_HELD_BACK = 10
"""A transmission that is held back takes up to so many times the longest delay more."""


class FaultyRadio(Radio):
    """Repeats some receptions a little later, and holds some transmissions back while later ones pass."""

    def _hand_over_after(self, delay_us: int, sender: int, receivers: tuple[int, ...], message: Message) -> None:
        settings, simulation = self.settings, self.simulation
        if self._draw() < settings.reordering:
            held_back_us = int(self._draw() * _HELD_BACK * settings.most_delay_us)
            simulation.push(simulation.now + delay_us + held_back_us, self._hand_over, (sender, receivers, message))
        else:
            super()._hand_over_after(delay_us, sender, receivers, message)
        again = tuple([receiver for receiver in receivers if self._draw() < settings.duplication])
        if again:
            arrival = simulation.now + delay_us + self._draw_delay()
            simulation.push(arrival, self._hand_over, (sender, again, message))
