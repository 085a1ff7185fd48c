"""The relevance feedback matrix: how likely it is that another head has tuples with a value."""

from dataclasses import dataclass

import numpy as np

from skerry.errors import InputError
from skerry.kernels.network.draws import find_cell
from skerry.model.arrays import Float64s
from skerry.network.snjoin.wire import Note

__all__ = ["Relevance", "RelevanceSettings"]


@dataclass(frozen=True)
class RelevanceSettings:
    """How relevance is kept and read.

    Entries lie from ``least`` to 1. ``least`` is what explores: a head that is never probed gets no feedback, so one
    that had lost its reputation could never regain it. ``normalised`` reads Definition 4 to the letter: the entries
    of a value sum to 1, so one head is probed on average, however many there are. Otherwise an entry is itself the
    probability, which is what a base of 50 % means in the same section.
    """

    cells: int = 64
    base: float = 0.5
    least: float = 0.05
    normalised: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if self.cells < 1 or not 0.0 <= self.least <= self.base <= 1.0:
            raise InputError(f"there are cells, and 0 <= least <= base <= 1; got {self}")


class Relevance:
    """One head's matrix: a row per cell of values, a column per head.

    >>> matrix = Relevance(head_count=3)
    >>> matrix.learn(Note(value=7, weights=((0, 0.75), (2, 0.25))))
    >>> matrix.rate(7).tolist()
    [0.75, 0.5, 0.25]
    """

    def __init__(self, head_count: int, settings: RelevanceSettings | None = None) -> None:
        self.settings = settings or RelevanceSettings()
        self._entries = np.full((self.settings.cells, head_count), self.settings.base)

    def rate(self, value: int) -> Float64s:
        """The entries of a value, by head."""
        row: Float64s = self._entries[find_cell(value, self.settings.cells)]
        return row

    def find_probabilities(self, value: int, own: int) -> Float64s:
        """With which probability each other head is to be probed; never the own."""
        found = self.rate(value).copy()
        found[own] = 0.0
        return found / max(found.sum(), 1e-9) if self.settings.normalised else found

    def learn(self, note: Note) -> None:
        """Add to each head that was probed by how much its weight exceeds their mean."""
        if not note.weights:
            return
        row, mean = self.rate(note.value), sum(weight for _, weight in note.weights) / len(note.weights)
        for head, weight in note.weights:
            row[head] = min(1.0, max(self.settings.least, row[head] + weight - mean))
