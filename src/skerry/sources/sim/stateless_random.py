"""Random numbers without a state: a draw is a function of what it is about.

A generator would have to be wound forward to the place where a split begins. Here a draw is a hash
of the seed, of what is drawn, when and where, so any part of the simulation can be had alone, in any
order and on any machine, and is the same each time.

The hash is the finaliser of SplitMix64. Steele, Lea, Flood: Fast Splittable Pseudorandom Number
Generators, 2014.
"""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from skerry.model.arrays import Float64s, Int64s

__all__ = ["Keys", "bell", "keys", "uniform"]

Keys = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 0xFFFFFFFFFFFFFFFF
_THIRD = np.uint64(2**21 - 1)


def keys(seed: int, about: str, moments: Int64s, places: Int64s) -> Keys:
    """Give each moment (row) and place (column) a key of its own, from which to draw.

    >>> now, here = np.arange(3), np.arange(2)
    >>> bool((keys(1, "vehicle", now, here)[1:] == keys(1, "vehicle", now[1:], here)).all())
    True
    >>> bool((keys(1, "vehicle", now, here) == keys(2, "vehicle", now, here)).any())
    False
    """
    root = _mixed(_mixed(np.array([seed & _WORD], np.uint64)) + np.uint64(crc32(about.encode())))
    when = _mixed(moments.astype(np.uint64) + root)
    where = _mixed(places.astype(np.uint64) + np.uint64(_GOLDEN))
    return _mixed(when[:, None] ^ where[None, :])


def uniform(of: Keys, draw: int) -> Float64s:
    """Draw from [0, 1). Draws of different numbers from the same key are independent.

    >>> float(uniform(keys(1, "vehicle", np.arange(1000), np.arange(10)), 0).mean().round(2))
    0.5
    """
    return (_drawn(of, draw) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def bell(of: Keys, draw: int) -> Float64s:
    """Draw from a bell curve with mean 0 and deviation 1 that ends at -3 and 3.

    It is the sum of three uniform draws: no tail reaches an impossible speed or length.

    >>> drawn = bell(keys(1, "vehicle", np.arange(1000), np.arange(10)), 0)
    >>> float(drawn.std().round(1)), bool(abs(drawn).max() < 3)
    (1.0, True)
    """
    bits = _drawn(of, draw)
    total: Keys = (bits & _THIRD) + ((bits >> np.uint64(21)) & _THIRD) + (bits >> np.uint64(43))
    return total.astype(np.float64) * (2.0 / float(_THIRD)) - 3.0


def _drawn(of: Keys, draw: int) -> Keys:
    return _mixed(of + np.uint64((draw + 1) * _GOLDEN & _WORD))


def _mixed(values: Keys) -> Keys:
    mixed = values ^ (values >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
