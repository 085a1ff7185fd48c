"""The slices that the edges of some windows cut time into: each window is made of whole ones.

    TUMBLE 4      |0      |4      |8      |12
    TUMBLE 6      |0          |6          |12
    slices        |0      |4  |6  |8      |12

A slice reaches from one edge to the next, so there are no more slices than edges. Equal slices, as long as the greatest
common divisor of all windows, would be many more where sizes have little in common: 60 per minute for 60 s and 61 s.

Krishnamurthy, Wu, Franklin: On-the-Fly Sharing for Streamed Aggregation, 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from skerry.model.window import Window

__all__ = ["Slices"]


@dataclass(frozen=True)
class Slices:
    """Edges at ``phase + n * step`` for each (step, phase), in microseconds."""

    rhythms: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, windows: Sequence[Window]) -> "Slices":
        """The slices of some windows; of one window, they are of equal length.

        >>> from skerry.model.time import Micros
        >>> Slices.of([Window(Micros(4), Micros(4)), Window(Micros(6), Micros(6)), Window(Micros(8), Micros(4))])
        Slices(rhythms=((4, 0), (6, 0)))
        """
        if len(windows) == 1:
            return cls(((windows[0].slice_us, windows[0].origin_us % windows[0].slice_us),))
        edges = {edge for window in windows for edge in _edges_of(window)}
        kept: list[tuple[int, int]] = []
        for step, phase in sorted(edges):
            if not any(step % other == 0 and phase % other == start for other, start in kept):
                kept.append((step, phase))
        return cls(tuple(kept))

    def count_within(self, span_us: int) -> int:
        """How many slices so long a window that begins at an edge has, at the most.

        >>> Slices(((4, 0), (6, 0))).count_within(12)
        5
        """
        return sum(-(-span_us // step) for step, _ in self.rhythms)


def _edges_of(window: Window) -> list[tuple[int, int]]:
    """Where its windows start, and where they end."""
    return [(window.slide_us, (window.origin_us + shift) % window.slide_us) for shift in (0, window.size_us)]
