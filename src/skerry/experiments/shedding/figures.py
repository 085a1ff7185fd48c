"""The figures of the shedding paper, and how much of each is measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skerry.experiments.figure import Figure
from skerry.experiments.shedding.normal import by_variance
from skerry.experiments.shedding.real import by_real_memory
from skerry.experiments.shedding.runs import Tell
from skerry.experiments.shedding.speed import speed_by_memory, speed_by_streams
from skerry.experiments.shedding.unique import by_drift, by_memory, by_orders, by_rate, by_skew, by_streams
from skerry.experiments.shedding.weblog import LOG
from skerry.experiments.shedding.workload import Workload

__all__ = ["FULL", "QUICK", "Extent", "figures", "figures_of"]

_LEFT_OUT = f"Figure 11 is left out: there is no {LOG} in the folder of data (--data, or SKERRY_DATA)."


@dataclass(frozen=True)
class Extent:
    """Where the figures are measured, how often, and for how many tuples a stream."""

    seeds: int
    memories: tuple[int, ...] = (100, 200, 300, 400, 500)
    alphas: tuple[float, ...] = (0.0, 0.5, 1.0, 1.5, 2.0)
    rates: tuple[float, ...] = (10.0, 12.5, 16.7, 25.0)
    stream_counts: tuple[int, ...] = (3, 4, 5, 6, 7)
    order_counts: tuple[int, ...] = (10, 20, 50, 100, 325)
    variances: tuple[float, ...] = (15, 20, 25, 30, 35)
    real_memories: tuple[int, ...] = (150, 200, 250, 300, 350)
    tuple_count: int = 10_000
    repeating_count: int = 10_000
    timed_count: int = 80_000


FULL = Extent(seeds=10)
QUICK = Extent(
    seeds=2,
    memories=(100, 500),
    alphas=(0.0, 2.0),
    rates=(10.0, 25.0),
    stream_counts=(3, 7),
    order_counts=(10, 325),
    variances=(15, 35),
    real_memories=(150, 350),
    repeating_count=3_000,
    timed_count=10_000,
)


def figures(quick: bool, tell: Tell, data: Path | None) -> Iterator[Figure]:
    """Measure one figure after the other."""
    return figures_of(QUICK if quick else FULL, tell, data)


def figures_of(extent: Extent, tell: Tell, data: Path | None) -> Iterator[Figure]:
    """Measure figures 5 to 11 and, of our own, what drift and the number of orders do; 11 only if its data is there."""
    workload, timed = Workload(tuple_count=extent.tuple_count), Workload(tuple_count=extent.timed_count)
    yield by_memory(extent.memories, extent.seeds, workload, tell)
    yield by_skew(extent.alphas, extent.seeds, workload, tell)
    yield by_rate(extent.rates, extent.seeds, workload, tell)
    yield by_streams(extent.stream_counts, extent.seeds, workload, tell)
    yield by_drift(extent.alphas, extent.seeds, workload, tell)
    yield by_orders(extent.order_counts, extent.seeds, workload, tell)
    yield speed_by_memory(extent.memories, timed, tell)
    yield speed_by_streams(extent.stream_counts, timed, tell)
    repeating = by_variance(extent.variances, extent.seeds, extent.repeating_count, tell)
    if data and (data / LOG).exists():
        yield repeating
        yield from by_real_memory(data / LOG, extent.real_memories, extent.seeds, tell)
    else:
        tell(_LEFT_OUT)
        yield repeating.with_verdicts(repeating.verdicts, [_LEFT_OUT])
