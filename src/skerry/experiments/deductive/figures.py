"""The figures of the deductive paper's section 4, and how much of each is simulated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skerry.experiments.deductive.figure4_inaccuracy import draw_inaccuracy
from skerry.experiments.deductive.figure5_messages import draw_messages
from skerry.experiments.deductive.figure6_transitive_factor import draw_transitive_factor, measure_transitive_factor
from skerry.experiments.deductive.grid_runs import TECHNIQUES, GridRun, measure_grid
from skerry.experiments.deductive.memory import draw_memory
from skerry.experiments.figure import Figure

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Extent:
    """Sides of the grids, probabilities of loss, those of Figure 5 among them, and runs per point; and for Figure 6."""

    sides: tuple[int, ...]
    losses: tuple[float, ...]
    seeds: int
    compared: tuple[float, ...] = (0.0, 0.1, 0.2)
    factors: tuple[int, ...] = (1, 2, 3, 4, 5, 6)
    factor_side: int = 7
    factor_seeds: int = 1


FULL = Extent((5, 7, 10), (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3), seeds=30, factor_seeds=5)
QUICK = Extent((5, 7), (0.0, 0.1, 0.2, 0.3), seeds=5)


def measure_figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Give one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell)


def measure_extent(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Figures 4 and 5 and the numbers on memory, all from the same runs; and Figure 6."""
    runs: list[GridRun] = []
    for side in extent.sides:
        for technique in TECHNIQUES:
            tell(f"{side} x {side} motes, {technique}: {len(extent.losses) * extent.seeds:,} runs")
            runs += measure_grid(side, [technique], extent.losses, extent.seeds)
    yield from draw_inaccuracy(runs)
    yield from draw_messages(runs, extent.compared)
    tell(f"{extent.factor_side} x {extent.factor_side} motes, transitive factors up to {extent.factors[-1]}")
    yield draw_transitive_factor(
        list(measure_transitive_factor(extent.factor_side, extent.factors, extent.factor_seeds))
    )
    yield draw_memory(runs)
