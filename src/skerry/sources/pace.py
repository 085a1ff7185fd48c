"""How much of what comes is taken in, so that answers do not fall behind."""

from skerry.model.time import Micros

__all__ = ["next_share"]

_LEAST = 0.01
_GROWTH = 1.25


def next_share(share: float, lag_us: Micros, most_us: Micros) -> float:
    """The share of the next step, from that of the step before and how long readings have waited by now.

    Half of the lag that is allowed is aimed at: the time that a step takes is added to it. Above that the share
    shrinks in proportion; below, it grows again by and by until nothing is refused.

    >>> next_share(1.0, lag_us=Micros(8_000_000), most_us=Micros(4_000_000))
    0.25
    >>> next_share(0.5, lag_us=Micros(1_000_000), most_us=Micros(4_000_000))
    0.625
    """
    if 2 * lag_us > most_us:
        return max(_LEAST, share * most_us / (2 * lag_us))
    return min(1.0, share * _GROWTH)
