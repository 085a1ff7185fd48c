"""Random numbers without a state: a draw is a function of what it is about.

A generator would have to be wound forward to where a split begins. Here a draw is a hash
of the seed, of what is drawn, when and where, so any part of the simulation can be had alone, in any
order and on any machine, and is the same each time.

The hash is the finaliser of SplitMix64. Steele, Lea, Flood: Fast Splittable Pseudorandom Number
Generators, 2014.
"""

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from skerry.model.arrays import Float64s, Int64s

__all__ = ["Keys", "draw_bell", "draw_uniform", "make_keys"]

Keys = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 0xFFFFFFFFFFFFFFFF
_THIRD = np.uint64(2**21 - 1)


def make_keys(seed: int, about: str, moments: Int64s, indices: Int64s) -> Keys:
    """Give each moment (row) and index (column), of a station or a road lane, a key of its own, from which to draw.

    >>> now, here = np.arange(3), np.arange(2)
    >>> bool((make_keys(1, "vehicle", now, here)[1:] == make_keys(1, "vehicle", now[1:], here)).all())
    True
    >>> bool((make_keys(1, "vehicle", now, here) == make_keys(2, "vehicle", now, here)).any())
    False
    """
    root = _mix(_mix(np.array([seed & _WORD], np.uint64)) + np.uint64(crc32(about.encode())))
    when = _mix(moments.astype(np.uint64) + root)
    where = _mix(indices.astype(np.uint64) + np.uint64(_GOLDEN))
    return _mix(when[:, None] ^ where[None, :])


def draw_uniform(from_keys: Keys, draw: int) -> Float64s:
    """Draw from [0, 1). Draws of different numbers from the same key are independent.

    >>> float(draw_uniform(make_keys(1, "vehicle", np.arange(1000), np.arange(10)), 0).mean().round(2))
    0.5
    """
    return (_draw(from_keys, draw) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def draw_bell(from_keys: Keys, draw: int) -> Float64s:
    """Draw from a bell curve with mean 0 and deviation 1 that ends at -3 and 3.

    It is the sum of three uniform draws: no tail reaches an impossible speed or length.

    >>> drawn = draw_bell(make_keys(1, "vehicle", np.arange(1000), np.arange(10)), 0)
    >>> float(drawn.std().round(1)), bool(abs(drawn).max() < 3)
    (1.0, True)
    """
    bits = _draw(from_keys, draw)
    total: Keys = (bits & _THIRD) + ((bits >> np.uint64(21)) & _THIRD) + (bits >> np.uint64(43))
    return total.astype(np.float64) * (2.0 / float(_THIRD)) - 3.0


def _draw(from_keys: Keys, draw: int) -> Keys:
    return _mix(from_keys + np.uint64((draw + 1) * _GOLDEN & _WORD))


def _mix(values: Keys) -> Keys:
    mixed = values ^ (values >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
