"""The figures of the Fjords paper's section 6, and how much of each is computed or simulated."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skerry.experiments.figure import Figure
from skerry.experiments.fjords.accuracy import measure_cars, measure_traffic
from skerry.experiments.fjords.demanded_power import measure_demanded_power
from skerry.experiments.fjords.figure10_power import measure_power
from skerry.experiments.fjords.lifetimes import measure_lifetimes, measure_rates
from skerry.experiments.fjords.metered_motes import measure_motes

__all__ = ["FULL", "QUICK", "Extent", "measure_extent", "measure_figures"]

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Extent:
    """Where the figures are computed, and how many vehicles are simulated."""

    cars: int
    minutes: int
    demanded_minutes: float = 1.0
    rates: tuple[float, ...] = (20.0, 60.0, 90.0, 120.0, 180.0, 240.0, 300.0, 360.0)
    sampled: tuple[float, ...] = (45.0, 90.0, 135.0, 180.0, 270.0, 360.0)
    lifetimes_days: tuple[float, ...] = (7.0, 30.0, 60.0, 90.0, 180.0, 365.0)


FULL = Extent(cars=20_000, minutes=60, demanded_minutes=5.0)
QUICK = Extent(cars=2_000, minutes=10, sampled=(90.0, 180.0, 360.0))


def measure_figures(quick: bool, tell: Tell) -> Iterator[Figure]:
    """Give one figure after the other."""
    return measure_extent(QUICK if quick else FULL, tell)


def measure_extent(extent: Extent, tell: Tell) -> Iterator[Figure]:
    """Figure 10, lifetimes and the rates that they allow, accuracy, motes that meter themselves, and demand."""
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
