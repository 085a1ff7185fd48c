"""The rate of a run in its steady state: what is compiled, started and filled at first is left out, by time."""

from collections.abc import Sequence

_LEFT_OUT = 1 / 3
"""Of the time of a run. A share, not a number of batches or seconds: so a slow contender and a fast one, with large
batches or small, are given the same chance to warm up."""
_FEWEST = 3


def find_steady(seconds: Sequence[float]) -> slice:
    """The batches that begin after the first third of the run's time."""
    begun, first = 0.0, 0
    while first < len(seconds) and begun < _LEFT_OUT * sum(seconds):
        begun += seconds[first]
        first += 1
    if len(seconds) - first < _FEWEST:
        raise SystemExit(f"error: {len(seconds)} batches are too few for a steady state; give more rows")
    return slice(first, len(seconds))


def measure_rate(rows: Sequence[float], seconds: Sequence[float]) -> float:
    """Rows a second over the batches of the steady state."""
    steady = find_steady(seconds)
    return sum(rows[steady]) / sum(seconds[steady])
