"""How many readings a step has, so that it does not take longer than readings may wait.

What a step takes has two parts as well (``replay.pace``): one that is there whatever is in it, and one that grows with
its readings. The first is no more than what the shortest step so far took, so the rest of the time of the last ones,
above all of those that took long, tells how many readings fit into the time there is. A step never has many times the
readings of the one before: what that took may tell little.
"""

from typing import NamedTuple

__all__ = ["FEW", "StepSize", "next_step_size"]

FEW = 20_000
"""Readings of a step, when it is not known how long one takes; fewer tell little."""
_GROWTH = 4.0
_REMEMBERED = 0.5
"""How much of what a reading took at the most counts after another step."""


class StepSize(NamedTuple):
    """How many readings a step may have; seconds and readings of the shortest so far; the least and most a reading."""

    rows: float
    shortest: float = 0.0
    shortest_rows: int = 0
    a_reading: float = 0.0
    at_most: float = 0.0

    @property
    def overhead(self) -> float:
        """What a step takes whatever is in it, as far as the shortest and the fastest tell.

        >>> StepSize(1000, shortest=1.0, shortest_rows=100, a_reading=0.001).overhead
        0.9
        """
        return max(0.0, self.shortest - self.shortest_rows * self.a_reading)


def next_step_size(step_size: StepSize, rows: int, took: float, goal: float) -> StepSize:
    """What the next step may have, after one of so many readings took so many seconds; ``goal`` is what it is to take.

    >>> next_step_size(StepSize(1000, shortest=0.1), rows=1000, took=1.0, goal=0.4).rows
    333.3...
    >>> next_step_size(StepSize(10_000, shortest=0.1), rows=10_000, took=0.11, goal=0.4).rows
    40000.0

    Where any step takes longer than that, little is won by a short one: it may take twice what the shortest does. The
    first step says nothing: much is done for the first time.

    >>> next_step_size(StepSize(1000, shortest=1.0), rows=1000, took=2.0, goal=0.4).rows
    1000.0
    >>> next_step_size(StepSize(1000), rows=1000, took=2.0, goal=0.4).rows
    1000
    """
    if not step_size.shortest:
        return StepSize(step_size.rows, took, rows, took / max(1, rows))
    shortest = min(step_size.shortest, took)
    spare, spent = max(goal - shortest, shortest), took - shortest
    at_most = max(spent / max(1, rows), _REMEMBERED * step_size.at_most)
    more = max(FEW, _GROWTH * rows)
    fit = more if at_most * more <= spare else spare / at_most
    had = rows if took < step_size.shortest else step_size.shortest_rows
    return StepSize(fit, shortest, had, min(step_size.a_reading, took / max(1, rows)), at_most)
