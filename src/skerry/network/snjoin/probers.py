"""Which heads a tuple is sent to, and in what order."""

from typing import Protocol

import numpy as np

from skerry.kernels.network.draws import draw_units
from skerry.network.snjoin.relevance import Relevance, RelevanceSettings
from skerry.network.snjoin.wire import Note, SensorTuple

__all__ = ["ProbeAll", "ProbeRelevant", "Prober"]


class Prober(Protocol):
    """How one head chooses probing sequences. Heads are numbered from 0, in the order of their motes."""

    wants_feedback: bool
    """Whether the collector is to send a note on every tuple."""

    def choose(self, new: SensorTuple) -> tuple[int, ...]:
        """The other heads to probe, in order."""

    def learn(self, note: Note) -> None:
        """Take relevance feedback."""


class ProbeAll:
    """All heads, in the order of their numbers: finds everything.

    >>> ProbeAll(own=1, head_count=3).choose(SensorTuple(7, 0, 0))
    (0, 2)
    """

    wants_feedback = False

    def __init__(self, own: int, head_count: int) -> None:
        self._others = tuple(head for head in range(head_count) if head != own)

    def choose(self, new: SensorTuple) -> tuple[int, ...]:
        """All others."""
        return self._others

    def learn(self, note: Note) -> None:
        """Nothing."""


class ProbeRelevant:
    """Each head with a probability that is its relevance to the value, the most relevant first.

    Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 4.
    """

    wants_feedback = True

    def __init__(self, own: int, head_count: int, settings: RelevanceSettings, seed: int) -> None:
        self._own, self._count, self._seed = own, head_count, seed
        self.relevance = Relevance(head_count, settings)

    def choose(self, new: SensorTuple) -> tuple[int, ...]:
        """Draw for each head on its own."""
        probabilities = self.relevance.find_probabilities(new.value, self._own)
        drawn = np.flatnonzero(draw_units(self._seed, new.time, new.sensor, self._count) < probabilities)
        order = np.argsort(-probabilities[drawn], kind="stable")
        return tuple(drawn[order].tolist())

    def learn(self, note: Note) -> None:
        """Change the matrix."""
        self.relevance.learn(note)
