"""The figures of the duality paper, and how much of each is measured."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skerry.experiments.duality.figure18_window_joins import measure_by_window
from skerry.experiments.duality.figures15_to_17_selections import (
    Ends,
    measure_by_predicates,
    measure_by_queries,
    measure_by_skew,
)
from skerry.experiments.duality.table3_cluster_size import find_best_clusters, measure_by_batch, measure_by_cluster
from skerry.experiments.duality.techniques import Effort
from skerry.experiments.duality.timing import Tell
from skerry.experiments.figure import Figure

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]

_AHEAD: Mapping[int, Mapping[str, Ends]] = {
    4: {"SJ-Batch": (15.0, 28.5), "SJ-Immediate": (1.7, 3.2)},
    8: {"SJ-Batch": (15.9, 36.2), "SJ-Immediate": (1.4, 2.1)},
}
"""How many times faster than IBS, by number of attributes, the paper's are at 10,000 and at 100,000 queries."""


@dataclass(frozen=True)
class Extent:
    """Where the figures are measured, and with how much effort."""

    effort: Effort
    batches: tuple[int, ...] = (2_000, 4_000, 6_000, 8_000, 10_000)
    clusters: tuple[int, ...] = (50, 100, 200, 400, 600, 800, 1_200, 1_600, 2_400, 3_200)
    query_counts: tuple[int, ...] = (10_000, 25_000, 50_000, 75_000, 100_000)
    bounded: tuple[int, ...] = (2, 4, 6, 8)
    """Of eight attributes."""
    predicate_queries: int = 50_000
    skews: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    skew_queries: int = 100_000
    skew_clusters: tuple[int, ...] = (200, 400, 800, 1_600, 3_200)
    windows: tuple[int, ...] = (100, 1_000, 10_000)
    join_query_counts: tuple[int, ...] = (10_000, 50_000, 100_000)


FULL = Extent(Effort(few=500, repeats=5))
QUICK = Extent(
    Effort(few=200, repeats=2),
    batches=(2_000, 10_000),
    clusters=(100, 400, 1_200),
    query_counts=(10_000, 100_000),
    bounded=(2, 8),
    predicate_queries=20_000,
    skews=(0.0, 1.0),
    skew_queries=50_000,
    skew_clusters=(400, 1_200),
    join_query_counts=(10_000,),
)


def measure_figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Measure one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell)


def measure_extent(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Measure Table 3, the times around its best clusters, and Figures 15 to 18."""
    effort, table = extent.effort, measure_by_batch(extent.batches, extent.clusters, extent.effort, tell)
    yield table
    yield measure_by_cluster(extent.batches[-1], extent.clusters, effort, tell)
    best = find_best_clusters(table)
    for attributes, ahead in _AHEAD.items():
        yield measure_by_queries(extent.query_counts, attributes, best[attributes], ahead, effort, tell)
    yield measure_by_predicates(extent.bounded, extent.predicate_queries, best[8], effort, tell)
    yield measure_by_skew(extent.skews, extent.skew_queries, extent.skew_clusters, effort, tell)
    before = None
    for window in extent.windows:
        before = measure_by_window(extent.join_query_counts, window, effort.repeats, before, tell)
        yield before
