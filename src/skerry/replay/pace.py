"""How much of what comes is taken in, so that answers do not fall behind.

A step's load is the time it took by the time in which its readings came: above one, readings pile up. It has two parts,
one for what is done whatever is taken in (reading, above all), and one in proportion to the share that a view takes in:

    load = reading + joining * share

To take in less helps with the second part alone, so no more is refused than that part calls for. The first is told
from the loads of recent steps, as soon as their shares have differed; until then all is held to be the view's, which
the next step confirms or not. What is left of the last step's load is the second: it grows as windows fill.
"""

from collections.abc import Iterable
from typing import NamedTuple

from skerry.model.time import MICROS, Micros

__all__ = ["A_STEP", "Pace", "count_lags", "next_pace", "note_load"]

_LEAST = 0.01
_GROWTH = 1.25
"""By how much the share grows or shrinks at the most with a step as long as it may be, while the lag is bearable; with
a shorter one by less, for windows take their time to fill."""
_STEADY = 1.2
"""A load that may be that of steps which follow on each other and are short: each has what came during the last."""
_REMEMBERED = 0.9
"""How much of what was learned counts after another step."""
_SPREAD = 0.005
"""How much shares must have varied, by the square of their mean, for the two parts to be told apart."""
A_STEP = 0.125
"""What a step is to take at the most, as a part of the lag that is allowed. Half of the lag may have passed when a step
is planned that still takes all in, and that may take twice as long as expected; and the next one takes its time too."""
_EVIDENCE = 0.125
"""What was refused must have come in so much time, as a part of the lag that is allowed, to tell what reading takes:
what a short step takes may be there whatever is in it."""
_CONVICTION = 0.1
"""As what part of that it is enough to go on blaming reading."""
_UNKNOWN = 1e9
"""More than any load."""
_LITTLE = 0.05
"""A part of the load that is not worth refusing anything for."""


class Pace(NamedTuple):
    """The share that a view takes in, and sums over recent steps: how long, shares, their squares, loads, products."""

    share: float = 1.0
    spans: float = 0.0
    shares: float = 0.0
    squares: float = 0.0
    loads: float = 0.0
    products: float = 0.0
    blameless: bool = False
    """Whether readings wait too long for a reason other than this view, or not for it alone."""
    load: float = 0.0
    """That of the last step, 0 as long as there was none."""
    least: float = _UNKNOWN
    """The smallest of late: reading is no more than that."""
    refused: float = 0.0
    """In how many seconds what was refused of late had come."""
    span: float = 0.0
    """In how many seconds the last step's readings came."""


def note_load(pace: Pace, load: float, span: float = 1.0, longest: float = 1.0) -> Pace:
    """What is known after a step at this pace had a load; the longer its span, the more that tells.

    ``longest`` is what a span may be: many short steps, of which one was lucky, do not make the least load forgotten.
    """
    return pace._replace(
        spans=_REMEMBERED * pace.spans + span,
        shares=_REMEMBERED * pace.shares + span * pace.share,
        squares=_REMEMBERED * pace.squares + span * pace.share**2,
        loads=_REMEMBERED * pace.loads + span * load,
        products=_REMEMBERED * pace.products + span * pace.share * load,
        load=load,
        least=min(load, pace.least / _REMEMBERED ** min(1.0, span / longest)),
        refused=_REMEMBERED * pace.refused + span * (1.0 - pace.share),
        span=span,
    )


def next_pace(pace: Pace, lag_us: Micros, most_us: Micros) -> Pace:
    """The pace of the next step, from that of the step before and how long readings have waited by now.

    Half of the lag that is allowed is aimed at: the time that a step takes is added to it. Above that the share
    shrinks in proportion, at once as far as the load calls for, but not below what helps; below, it grows again by and
    by until nothing is refused, or as far as readings will not pile up again.

    >>> next_pace(note_load(Pace(1.0), load=5.0), lag_us=Micros(3_000_000), most_us=Micros(4_000_000)).share
    0.1
    >>> next_pace(note_load(Pace(0.5), load=0.2), lag_us=Micros(1_000_000), most_us=Micros(4_000_000)).share
    0.625
    """
    reading, joining = _parts(pace) if _is_known(pace, most_us) else (0.0, 0.0)
    lately = max(0.0, pace.load - reading) / pace.share
    growth = _GROWTH ** min(1.0, pace.span * MICROS["SECOND"] / (A_STEP * most_us))
    most = min(1.0, pace.share * growth)
    if 2 * (lag_us + _more(pace.load) * most_us) <= most_us:
        least = pace.share / growth if pace.share < 1.0 else 1.0
        at_ease = lag_us <= A_STEP * most_us and pace.load <= _STEADY
        bearable = 1.0 if at_ease else _bearable(reading, lately, lag_us / most_us)
        return pace._replace(share=min(most, max(least, bearable)), blameless=False)
    enough = _enough(reading, max(joining, lately)) if pace.load else pace.share / 2
    if reading < 1.0:
        in_proportion = 0.0 if pace.load >= 1.0 else pace.share * most_us / (2 * lag_us)
        enough = min(most, max(enough, in_proportion))
    return pace._replace(share=max(_LEAST, enough), blameless=reading >= 1.0 or enough >= 1.0)


def count_lags(blameless: Iterable[str]) -> dict[str, dict[str, int]]:
    """What is counted, by view, when a step began late and the views were not, or not alone, why.

    >>> count_lags(["traffic"])
    {'traffic': {'lagged_elsewhere': 1}}
    """
    return {view: {"lagged_elsewhere": 1} for view in blameless}


def _more(load: float) -> float:
    """By how much the lag will have grown after another step with such a load, as a part of the lag that is allowed.

    >>> _more(load=0.8), _more(load=5.0)
    (0.0, 0.1)
    """
    return A_STEP * (1.0 - 1.0 / load) if load > 1.0 else 0.0


def _is_known(pace: Pace, most_us: Micros) -> bool:
    """Whether enough was refused to tell what reading takes."""
    needed = _EVIDENCE * (_CONVICTION if pace.blameless else 1.0)
    return pace.refused * MICROS["SECOND"] >= needed * most_us


def _parts(pace: Pace) -> tuple[float, float]:
    """The load of reading, and that of joining all there is: a line through loads by shares, if these have differed.

    The line is of some steps, and reading may be overrated where joining has grown since, but is no more than a load.
    """
    share, load = pace.shares / pace.spans, pace.loads / pace.spans
    spread = pace.squares / pace.spans - share * share
    if spread < _SPREAD * share * share:
        return 0.0, 0.0
    joining = max(0.0, (pace.products / pace.spans - share * load) / spread)
    return min(pace.least, max(0.0, load - joining * share)), joining


def _bearable(reading: float, joining: float, behind: float = 0.0) -> float:
    """The share at which readings do not pile up, or become fewer if they have; all, if it is not for the join.

    >>> _bearable(reading=0.5, joining=2.5), _bearable(reading=0.5, joining=0.1), _bearable(reading=1.5, joining=2.0)
    (0.2, 1.0, 1.0)
    """
    return (1.0 - behind) * (1.0 - reading) / joining if reading < 1.0 < reading + joining else 1.0


def _enough(reading: float, joining: float) -> float:
    """The share below which there is no need to go: half of the time that reading leaves is given to the join.

    If reading leaves none, no share will do. Then the join takes in what its part of the load calls for.

    >>> _enough(reading=0.5, joining=2.5), _enough(reading=1.5, joining=0.01), _enough(reading=2.0, joining=2.0)
    (0.1, 1.0, 0.5)
    """
    if joining <= _LITTLE * (reading + joining):
        return 1.0
    return min(1.0, (1.0 - reading) / (2 * joining)) if reading < 1.0 else reading / (reading + joining)
