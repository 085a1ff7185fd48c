"""How much of what comes is taken in, so that answers do not fall behind.

A step's load is the time it took by the time in which its readings came: above one, readings pile up. It has two parts,
one for what is done whatever is taken in (reading, above all), and one in proportion to the share that a view takes in:

    load = reading + joining * share

Both are told from the loads of recent steps, as soon as their shares have differed. To take in less helps with the
second part alone, so no more is refused than that part calls for.
"""

from collections.abc import Iterable
from typing import NamedTuple

from skerry.model.time import Micros

__all__ = ["Pace", "lagging", "next_pace", "noted"]

_LEAST = 0.01
_GROWTH = 1.25
_REMEMBERED = 0.95
"""How much of what was learned counts after another step."""
_SPREAD = 0.005
"""How much shares must have varied, by the square of their mean, for the two parts to be told apart."""
_LITTLE = 0.05
"""A part of the load that is not worth refusing anything for."""


class Pace(NamedTuple):
    """The share that a view takes in, and sums over recent steps: how many, shares, their squares, loads, products."""

    share: float = 1.0
    steps: float = 0.0
    shares: float = 0.0
    squares: float = 0.0
    loads: float = 0.0
    products: float = 0.0
    blameless: bool = False
    """Whether readings wait longer than they should, and the view is not, or not alone, why."""


def noted(pace: Pace, load: float) -> Pace:
    """What is known after a step at this pace had a load."""
    return pace._replace(
        steps=_REMEMBERED * pace.steps + 1.0,
        shares=_REMEMBERED * pace.shares + pace.share,
        squares=_REMEMBERED * pace.squares + pace.share**2,
        loads=_REMEMBERED * pace.loads + load,
        products=_REMEMBERED * pace.products + pace.share * load,
    )


def next_pace(pace: Pace, lag_us: Micros, most_us: Micros) -> Pace:
    """The pace of the next step, from that of the step before and how long readings have waited by now.

    Half of the lag that is allowed is aimed at: the time that a step takes is added to it. Above that the share
    shrinks in proportion, but not below what helps; below, it grows again by and by until nothing is refused, or as
    far as readings will not pile up again. As long as that is not known, the share is halved at the most.

    >>> next_pace(Pace(1.0), lag_us=Micros(8_000_000), most_us=Micros(4_000_000)).share
    0.5
    >>> next_pace(Pace(0.5), lag_us=Micros(1_000_000), most_us=Micros(4_000_000)).share
    0.625
    """
    parts = _parts(pace)
    if 2 * lag_us <= most_us:
        bearable = _bearable(*parts) if parts else 1.0
        return pace._replace(share=min(pace.share * _GROWTH, max(pace.share, bearable)), blameless=False)
    enough = _enough(*parts) if parts else pace.share / 2
    share = max(_LEAST, enough, pace.share * most_us / (2 * lag_us))
    return pace._replace(share=min(1.0, share), blameless=parts is not None and (parts[0] >= 1.0 or enough >= 1.0))


def lagging(blameless: Iterable[str]) -> dict[str, dict[str, int]]:
    """What is counted, by view, when a step began late and the views were not, or not alone, why.

    >>> lagging(["traffic"])
    {'traffic': {'lagged_elsewhere': 1}}
    """
    return {view: {"lagged_elsewhere": 1} for view in blameless}


def _parts(pace: Pace) -> tuple[float, float] | None:
    """The load of reading, and that of joining all there is; None if they cannot be told apart."""
    if not pace.steps:
        return None
    share, load = pace.shares / pace.steps, pace.loads / pace.steps
    spread = pace.squares / pace.steps - share * share
    if spread < _SPREAD * share * share:
        return None
    joining = max(0.0, (pace.products / pace.steps - share * load) / spread)
    return max(0.0, load - joining * share), joining


def _bearable(reading: float, joining: float) -> float:
    """The share at which readings do not pile up; all, if it is not for the join that they do.

    >>> _bearable(reading=0.5, joining=2.5), _bearable(reading=0.5, joining=0.1), _bearable(reading=1.5, joining=2.0)
    (0.2, 1.0, 1.0)
    """
    return (1.0 - reading) / joining if reading < 1.0 < reading + joining else 1.0


def _enough(reading: float, joining: float) -> float:
    """The share below which there is no need to go: half of the time that reading leaves is given to the join.

    If reading leaves none, no share will do. Then the join takes in what its part of the load calls for.

    >>> _enough(reading=0.5, joining=2.5), _enough(reading=1.5, joining=0.01), _enough(reading=2.0, joining=2.0)
    (0.1, 1.0, 0.5)
    """
    if joining <= _LITTLE * (reading + joining):
        return 1.0
    return min(1.0, (1.0 - reading) / (2 * joining)) if reading < 1.0 else reading / (reading + joining)
