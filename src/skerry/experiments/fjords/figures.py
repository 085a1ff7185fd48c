"""The figures of the Fjords paper's sections 5 and 6, and how much of each is measured, computed or simulated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skerry.experiments.figure import Figure
from skerry.experiments.fjords.accuracy import measure_cars, measure_traffic
from skerry.experiments.fjords.demanded_power import measure_demanded_power
from skerry.experiments.fjords.figure7_sharing import measure_sharing
from skerry.experiments.fjords.figure8_scaling import measure_query2, measure_scaling
from skerry.experiments.fjords.figure10_power import measure_power
from skerry.experiments.fjords.lifetimes import measure_lifetimes, measure_rates
from skerry.experiments.fjords.metered_motes import measure_motes
from skerry.experiments.fjords.queue_costs import measure_queues
from skerry.experiments.fjords.trace import PAPER_RECORDS, Trace

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Extent:
    """Where the figures are computed, and how many vehicles are simulated."""

    cars: int
    minutes: int
    demanded_minutes: float = 1.0
    records: int = PAPER_RECORDS
    shared: tuple[int, ...] = (1, 2, 5, 10, 15, 20)
    scaled: tuple[int, ...] = (1, 2, 5, 10, 20, 30, 50, 100)
    query2: tuple[int, ...] = (1, 10, 50)
    rates: tuple[float, ...] = (20.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0, 360.0)
    sampled: tuple[float, ...] = (45.0, 90.0, 135.0, 180.0, 270.0, 360.0)
    lifetimes_days: tuple[float, ...] = (7.0, 30.0, 60.0, 90.0, 180.0, 365.0)


FULL = Extent(cars=20_000, minutes=60, demanded_minutes=5.0)
QUICK = Extent(
    cars=2_000,
    minutes=10,
    records=3_000,
    shared=(1, 2, 5, 10),
    scaled=(1, 5, 20, 50),
    query2=(1, 10),
    sampled=(90.0, 180.0, 360.0),
)


def measure_figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Give one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell)


def measure_extent(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Figures 7 and 8, Query 2, Figure 10, lifetimes and rates, accuracy, motes that meter themselves, demand."""
    tell(f"Figure 7, {extent.shared[-1]} queries")
    yield measure_sharing(Trace(extent.records), extent.shared)
    tell(f"Figure 8, {extent.scaled[-1]} queries")
    yield measure_scaling(Trace(extent.records), extent.scaled)
    tell(f"Query 2, {extent.query2[-1]} times")
    yield measure_query2(Trace(extent.records, stations=16), extent.query2)
    tell("queues")
    yield measure_queues(Trace(300), (1, 90))
    yield from measure_power(extent.rates)
    yield measure_lifetimes(extent.rates)
    yield measure_rates(extent.lifetimes_days)
    tell(f"accuracy, {extent.cars:,} cars at 60 mph")
    yield measure_cars(extent.sampled, extent.cars)
    tell(f"accuracy, {extent.minutes} minutes of simulated traffic")
    yield measure_traffic(extent.sampled, extent.minutes)
    tell(f"motes, {extent.minutes} minutes of simulated traffic")
    yield measure_motes(extent.sampled, extent.minutes)
    tell(f"motes that deliver what queries need, {60 * extent.demanded_minutes:g} s")
    yield measure_demanded_power(60.0 * extent.demanded_minutes)
