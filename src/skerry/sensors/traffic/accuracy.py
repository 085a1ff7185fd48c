"""How exact speed and length are at a sample rate: bounds, and the rate that an accuracy wants.

Each of the times t0, t1, t2 is late by at most a sample period p, in which a vehicle of speed v goes the step s = v p.
So a difference of two is wrong by less than s, not 2 s. With d between the loops, and a length L of at least d:

    speed known                length is wrong by less than  s
    speed as it is measured    speed  by less than  v s / (d - s),  length by less than  L s / (d - s)

The latter two are reached if t1 comes in time and t0 as late as can be, the length's if t2 does too. At s = d the
loops may seem to be covered at once, and nothing can be said.
"""

from math import inf

__all__ = ["bound_length", "bound_length_at_known_speed", "bound_speed", "find_rate", "find_rate_at_known_speed"]


def bound_length_at_known_speed(feet_per_s: float, sample_hz: float) -> float:
    """The largest error of a length if the speed is known.

    >>> bound_length_at_known_speed(88.0, 176.0)
    0.5
    """
    return feet_per_s / sample_hz


def bound_speed(feet_per_s: float, distance_feet: float, sample_hz: float) -> float:
    """The largest error of a measured speed.

    >>> bound_speed(88.0, 10.0, 176.0)
    4.631578947368421
    """
    return feet_per_s * _bound_share(feet_per_s, distance_feet, sample_hz)


def bound_length(feet: float, feet_per_s: float, distance_feet: float, sample_hz: float) -> float:
    """The largest error of a length of at least the distance, by a measured speed.

    >>> bound_length(15.0, 88.0, 10.0, 176.0)
    0.7894736842105263
    """
    return feet * _bound_share(feet_per_s, distance_feet, sample_hz)


def find_rate_at_known_speed(accuracy_feet: float, feet_per_s: float) -> float:
    """The sample rate at which a length is accurate if the speed is known.

    >>> find_rate_at_known_speed(1.0, 88.0)
    88.0
    """
    return feet_per_s / accuracy_feet


def find_rate(accuracy_feet: float, feet: float, feet_per_s: float, distance_feet: float) -> float:
    """The sample rate at which a length is accurate, by a measured speed.

    >>> find_rate(1.0, 15.0, 88.0, 10.0)
    140.8
    """
    return feet_per_s * (feet + accuracy_feet) / (accuracy_feet * distance_feet)


def _bound_share(feet_per_s: float, distance_feet: float, sample_hz: float) -> float:
    step = feet_per_s / sample_hz
    return step / (distance_feet - step) if step < distance_feet else inf
