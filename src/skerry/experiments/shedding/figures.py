"""The figures of the shedding paper, and how much of each is measured."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skerry.experiments.figure import Figure
from skerry.experiments.shedding.figure9_speed import measure_speed_by_memory, measure_speed_by_streams
from skerry.experiments.shedding.figure10_repeating_values import measure_by_variance
from skerry.experiments.shedding.figure11_web_log import measure_web_log
from skerry.experiments.shedding.figures5_to_8_unique_values import (
    measure_by_drift,
    measure_by_memory,
    measure_by_orders,
    measure_by_rate,
    measure_by_skew,
    measure_by_streams,
)
from skerry.experiments.shedding.measure_policies import Tell
from skerry.experiments.shedding.web_log import LOG
from skerry.experiments.shedding.workload import Workload

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]

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


def measure_figures(quick: bool, tell: Tell, data: Path | None) -> Iterator[Figure]:
    """Measure one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell, data)


def measure_extent(extent: Extent, tell: Tell, data: Path | None) -> Iterator[Figure]:
    """Measure figures 5 to 11 and, of our own, what drift and the number of orders do; 11 only if its data is there."""
    workload, timed = Workload(tuple_count=extent.tuple_count), Workload(tuple_count=extent.timed_count)
    yield measure_by_memory(extent.memories, extent.seeds, workload, tell)
    yield measure_by_skew(extent.alphas, extent.seeds, workload, tell)
    yield measure_by_rate(extent.rates, extent.seeds, workload, tell)
    yield measure_by_streams(extent.stream_counts, extent.seeds, workload, tell)
    yield measure_by_drift(extent.alphas, extent.seeds, workload, tell)
    yield measure_by_orders(extent.order_counts, extent.seeds, workload, tell)
    yield measure_speed_by_memory(extent.memories, timed, tell)
    yield measure_speed_by_streams(extent.stream_counts, timed, tell)
    repeating = measure_by_variance(extent.variances, extent.seeds, extent.repeating_count, tell)
    if data and (data / LOG).exists():
        yield repeating
        yield from measure_web_log(data / LOG, extent.real_memories, extent.seeds, tell)
    else:
        tell(_LEFT_OUT)
        yield repeating.with_verdicts(repeating.verdicts, [_LEFT_OUT])
