"""Which program a sensor runs, and how fast: the cheapest that serves all queries, within its battery."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from skerry.errors import OptionError
from skerry.model.time import MICROS, Micros
from skerry.sensors.program import Program

__all__ = ["Choice", "PowerEstimate", "choose_program"]

_USUAL_PERIOD_US = Micros(MICROS["SECOND"])
"""Where nobody says how often a sensor samples, programs are compared at this rate."""


class _TotalPower(Protocol):
    @property
    def total_mw(self) -> float: ...


class PowerEstimate(Protocol):
    """What programs cost: the part of a power model that a choice between them needs."""

    def power(self, program: Program, sample_hz: float) -> _TotalPower:
        """Mean power at a sample rate. An ``OptionError`` says that the sensor cannot sample so fast."""

    def life_us(self, power_mw: float) -> Micros:
        """How long a full battery lasts."""

    def longest_life_period(self, program: Program, lifetime_us: Micros) -> Micros:
        """The shortest sample period with which a battery lasts. An ``OptionError`` says that none does."""


@dataclass(frozen=True)
class Choice:
    """A program and a sample period; what they cost, where it is known; and why it is not what was asked for."""

    program: str | None = None
    period_us: Micros | None = None
    power_mw: float | None = None
    life_us: Micros | None = None
    notes: tuple[str, ...] = ()
    is_kept_by_battery: bool = False
    """Whether the battery allows no shorter period."""
    is_too_much: bool = False
    """Whether the battery does not last as long as asked for, however slow the sensor samples."""
    for_columns: tuple[str, ...] = ()
    """The wanted columns for which a cheaper program would not do."""


def choose_program(
    programs: Sequence[Program],
    wanted: frozenset[str],
    period_us: Micros | None,
    lifetime_us: Micros | None,
    estimate: PowerEstimate | None,
    usual_us: Micros | None = None,
) -> Choice:
    """The cheapest program that delivers the wanted columns, as far as any program does.

    ``usual_us`` is how often the sensor samples if nobody says. Without a power model, programs are taken in their
    order, the cheapest first.
    """
    if not programs:
        notes = ("no program of it is known, so battery_lifetime cannot be kept",) if lifetime_us else ()
        return Choice(None, period_us, notes=notes)
    possible = wanted & frozenset().union(*(program.columns for program in programs))
    serving = [program for program in programs if possible <= set(program.columns)]
    if not serving:
        known = ", ".join(program.name for program in programs)
        note = f"none of its programs ({known}) delivers {', '.join(sorted(possible))} together"
        return Choice(None, period_us, notes=(note,))
    offers = [_offer(program, period_us, lifetime_us, usual_us, estimate) for program in programs]
    prices = [(_rank(offer), position) for position, offer in enumerate(offers)]
    _, chosen = min(price for price, program in zip(prices, programs, strict=True) if program in serving)
    cheaper = [program for price, program in zip(prices, programs, strict=True) if price < prices[chosen]]
    missing = {name for program in cheaper for name in possible - set(program.columns)}
    return replace(offers[chosen], for_columns=tuple(sorted(missing)))


def _rank(offer: Choice) -> tuple[bool, bool, float, float]:
    """First what can be done at all, then what the battery allows, there the fastest, then the cheapest."""
    period = offer.period_us if offer.is_kept_by_battery and offer.period_us else 0
    return offer.power_mw is None, offer.is_too_much, period, offer.power_mw or 0.0


def _offer(
    program: Program,
    period_us: Micros | None,
    lifetime_us: Micros | None,
    usual_us: Micros | None,
    estimate: PowerEstimate | None,
) -> Choice:
    """What a program would cost, at the wanted rate or at the highest that the battery allows."""
    if estimate is None:
        return Choice(program.name, period_us)
    notes: list[str] = []
    least_us = None
    try:
        least_us = estimate.longest_life_period(program, lifetime_us) if lifetime_us else None
    except OptionError as error:
        notes.append(str(error))
    is_too_much = lifetime_us is not None and least_us is None
    is_kept = least_us is not None and (period_us is None or least_us > period_us)
    found = least_us if is_kept else period_us
    try:
        power_mw = estimate.power(program, MICROS["SECOND"] / (found or usual_us or _USUAL_PERIOD_US)).total_mw
    except OptionError as error:
        return Choice(program.name, found, notes=(*notes, str(error)), is_kept_by_battery=is_kept)
    life_us = estimate.life_us(power_mw)
    return Choice(program.name, found, power_mw, life_us, tuple(notes), is_kept, is_too_much)
