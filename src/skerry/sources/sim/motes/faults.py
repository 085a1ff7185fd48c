"""What goes wrong with a mote and when: drawn from the seed, the mote, and the time or the number of the message.

So the same fleet has the same faults in every run, and a check can ask afterwards what should have happened.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from skerry.model.time import MICROS, Micros
from skerry.sources.sim.motes.settings import Faults
from skerry.sources.sim.stateless_random import draw_uniform, make_keys

__all__ = ["MoteFaults"]

_DRAWN_AT_ONCE = 64
_AHEAD_US, _BEHIND_US = MICROS["DAY"], 10 * MICROS["MINUTE"]


@dataclass(frozen=True)
class MoteFaults:
    """The faults of one mote.

    >>> always = MoteFaults(Faults(duplicate=1.0), seed=1, number=7)
    >>> always.is_doubled(0), always.is_held_back(0), always.clock_error_us
    (True, False, 0)
    """

    faults: Faults
    seed: int
    number: int
    _drawn: dict[str, tuple[int, list[float]]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def clock_error_us(self) -> int:
        """How far its clock is wrong: up to a day ahead, or ten minutes behind."""
        if self._draw("has a wrong clock", 0) >= self.faults.wrong_clock:
            return 0
        error = 2.0 * self._draw("clock", 0) - 1.0
        return round(error * (_AHEAD_US if error > 0 else _BEHIND_US))

    def is_dead(self, since_start_us: Micros) -> bool:
        """Whether it is dead at a time of the fleet.

        Once in each cycle it is dead, for a tenth to three tenths of it.
        """
        if not self.faults.die or self._draw("dies", 0) >= self.faults.die:
            return False
        cycle, within = divmod(since_start_us / 1e6 / self.faults.die_every_s, 1.0)
        begins = 0.2 + 0.5 * self._draw("begin of death", int(cycle))
        return begins <= within < begins + 0.1 + 0.2 * self._draw("length of death", int(cycle))

    def is_doubled(self, message: int) -> bool:
        """Whether a message is sent twice."""
        return self._happens("duplicate", self.faults.duplicate, message)

    def is_held_back(self, message: int) -> bool:
        """Whether a message is sent after the next one."""
        return self._happens("reorder", self.faults.reorder, message)

    def garbles(self, message: int) -> int | None:
        """How a message is broken, as a number to choose by; None if it is whole."""
        if not self._happens("garble", self.faults.garble, message):
            return None
        return int(self._draw("way to garble", message) * 2**32)

    def _happens(self, about: str, share: float, message: int) -> bool:
        return share > 0.0 and self._draw(about, message) < share

    def _draw(self, about: str, moment: int) -> float:
        """Draw many at once and keep them: messages come in order."""
        block, within = divmod(moment, _DRAWN_AT_ONCE)
        known, drawn = self._drawn.get(about, (-1, []))
        if known != block:
            moments = np.arange(block * _DRAWN_AT_ONCE, (block + 1) * _DRAWN_AT_ONCE)
            drawn = draw_uniform(make_keys(self.seed, about, moments, np.array([self.number]))[:, 0], 0).tolist()
            self._drawn[about] = block, drawn
        return drawn[within]
