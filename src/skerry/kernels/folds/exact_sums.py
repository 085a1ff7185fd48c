"""Sums of doubles by group, exact: they do not depend on order, batches or partitions.

A double is a 53-bit integer times a power of two, so a sum of doubles is an integer in units of
2^-1074, the least double there is. It is kept in *limbs* of 32 bits, each in a 64-bit word, so that
2^31 additions need no carry (R. M. Neal: Fast exact summation using small and large
superaccumulators, 2015). Readings of one kind span few powers of two: only the limbs between the
least and the greatest of a batch are kept.

    value = sum over i of limbs[i] * 2^(32 * (base + i) - 1074)

A total is a row ``[base | flags, limb, limb, ...]`` of a list column. The flags, above bit 8, say
whether a NaN or an infinity was met.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ldexp

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Bools, Float64s, Int64s

__all__ = ["Totals", "add_totals", "add_values", "as_doubles", "as_fraction", "halves"]


_NAN, _PLUS, _MINUS = 256, 512, 1024


@dataclass(frozen=True)
class Totals:
    """One exact total per group, as the offsets and values of a list column."""

    offsets: Int64s
    words: Int64s

    @property
    def count(self) -> int:
        """How many totals there are."""
        return int(self.offsets.size) - 1


def add_values(values: Float64s, valid: Bools, numbers: Int64s, count: int) -> Totals:
    """Add up the valid values of each group.

    >>> total = add_values(np.array([1e100, 1.0, -1e100]), np.ones(3, bool), np.zeros(3, np.int64), 1)
    >>> as_doubles(total).tolist()
    [1.0]
    """
    if not values.size == valid.size == numbers.size:
        raise KernelError("values, valid and groups differ in length:", values.size, valid.size, numbers.size)
    base, width = _span(values, valid)
    return _totals(base, *_scatter(values, valid, numbers, count, base, width))


def add_totals(totals: Totals, numbers: Int64s, count: int) -> Totals:
    """Add up the totals of each group."""
    if totals.count != numbers.size:
        raise KernelError("totals and groups differ in length:", totals.count, numbers.size)
    base, width = _span_of_totals(totals.offsets, totals.words)
    return _totals(base, *_gather(totals.offsets, totals.words, numbers, count, base, width))


def as_doubles(totals: Totals) -> Float64s:
    """Round each total once, to the nearest double, ties to even."""
    return halves(totals)[0]


def halves(totals: Totals) -> tuple[Float64s, Float64s]:
    """Each total as the nearest double and the rest: 106 bits of it."""
    return _round(totals.offsets, totals.words)


def as_fraction(totals: Totals, row: int) -> Fraction:
    """One finite total as it is, unrounded; slow.

    >>> total = add_values(np.array([0.5, 2.0**-60]), np.ones(2, bool), np.zeros(2, np.int64), 1)
    >>> as_fraction(total, 0) == Fraction(1, 2) + Fraction(1, 2**60)
    True
    """
    head, *limbs = totals.words[totals.offsets[row] : totals.offsets[row + 1]].tolist()
    whole = sum(limb << (32 * index) for index, limb in enumerate(limbs, head & 255))
    return Fraction(whole, 2**1074)


def _totals(base: int, limbs: Int64s, flags: Int64s) -> Totals:
    """Leave out the limbs that hold nothing but a sign, lest totals grow whenever they are merged."""
    while limbs.shape[1] > 1 and ((limbs[:, -1] == 0) | (limbs[:, -1] == -1)).all():
        limbs[:, -2] += limbs[:, -1] << 32
        limbs = limbs[:, :-1]
    words = np.column_stack([flags + base, limbs])
    return Totals(np.arange(words.shape[0] + 1, dtype=np.int64) * words.shape[1], words.reshape(-1))


@kernel
def _span(values, valid):
    """The lowest limb that any value touches, and how many are needed, with one for the carry."""
    bits = values.view(np.int64)
    low, high = 2047, 0
    for row in range(values.size):
        exponent = (bits[row] >> 52) & 2047
        if valid[row] and exponent != 2047 and (bits[row] & 0x7FFFFFFFFFFFFFFF) != 0:
            low = min(low, exponent)
            high = max(high, exponent)
    if low > high:
        return 0, 1
    return (max(low, 1) - 1) >> 5, ((max(high, 1) - 1) >> 5) - ((max(low, 1) - 1) >> 5) + 4


@kernel
def _scatter(values, valid, numbers, count, base, width):
    limbs = np.zeros((count, width), np.int64)
    flags = np.zeros(count, np.int64)
    bits = values.view(np.int64)
    for row in range(values.size):
        if not valid[row]:
            continue
        number = numbers[row]
        exponent = (bits[row] >> 52) & 2047
        mantissa = bits[row] & 0xFFFFFFFFFFFFF
        if exponent == 2047:
            flags[number] |= _NAN if mantissa else (_PLUS if bits[row] > 0 else _MINUS)
            continue
        if exponent:
            mantissa |= 1 << 52
            exponent -= 1
        if mantissa == 0:
            continue
        limb = (exponent >> 5) - base
        shift = exponent & 31
        low = (mantissa & 0xFFFFFFFF) << shift
        high = ((mantissa >> 32) << shift) + (low >> 32)
        if bits[row] < 0:
            limbs[number, limb] -= low & 0xFFFFFFFF
            limbs[number, limb + 1] -= high & 0xFFFFFFFF
            limbs[number, limb + 2] -= high >> 32
        else:
            limbs[number, limb] += low & 0xFFFFFFFF
            limbs[number, limb + 1] += high & 0xFFFFFFFF
            limbs[number, limb + 2] += high >> 32
    _carry(limbs)
    return limbs, flags


@kernel
def _carry(limbs):
    """Bring all limbs but the last of each row into [0, 2^32)."""
    for row in range(limbs.shape[0]):
        for index in range(limbs.shape[1] - 1):
            limbs[row, index + 1] += limbs[row, index] >> 32
            limbs[row, index] &= 0xFFFFFFFF


@kernel
def _span_of_totals(offsets, words):
    low, high = 1 << 30, -1
    for row in range(offsets.size - 1):
        if not words[offsets[row] + 1 : offsets[row + 1]].any():
            continue
        base = words[offsets[row]] & 255
        low = min(low, base)
        high = max(high, base + offsets[row + 1] - offsets[row] - 1)
    if high < 0:
        return 0, 1
    return low, high - low + 1


@kernel
def _gather(offsets, words, numbers, count, base, width):
    limbs = np.zeros((count, width), np.int64)
    flags = np.zeros(count, np.int64)
    for row in range(offsets.size - 1):
        number = numbers[row]
        start = offsets[row]
        flags[number] |= words[start] & ~255
        shift = (words[start] & 255) - base
        for index in range(offsets[row + 1] - start - 1):
            if words[start + 1 + index]:
                limbs[number, shift + index] += words[start + 1 + index]
    _carry(limbs)
    return limbs, flags


@kernel
def _round(offsets, words):
    """Each total as the nearest double, and what is left of it, rounded too."""
    high = np.zeros(offsets.size - 1, np.float64)
    low = np.zeros(offsets.size - 1, np.float64)
    for row in range(offsets.size - 1):
        start = offsets[row]
        flags = words[start] & ~255
        if flags:
            both = (flags & _PLUS) and (flags & _MINUS)
            high[row] = np.nan if (flags & _NAN) or both else (np.inf if flags & _PLUS else -np.inf)
            continue
        # Three spare limbs: subtracting the rounded value may borrow above the top one.
        limbs = np.zeros(offsets[row + 1] - start + 2, np.int64)
        limbs[: offsets[row + 1] - start - 1] = words[start + 1 : offsets[row + 1]]
        base = words[start] & 255
        high[row] = _nearest(limbs, base)
        if np.isfinite(high[row]) and high[row] != 0.0:
            _subtract(limbs, base, high[row])
            low[row] = _nearest(limbs, base)
    return high, low


@kernel
def _subtract(limbs, base, value):
    bits = np.array([value]).view(np.int64)[0]
    exponent = (bits >> 52) & 2047
    mantissa = bits & 0xFFFFFFFFFFFFF
    if exponent:
        mantissa |= 1 << 52
        exponent -= 1
    sign = 1 if bits < 0 else -1
    position = exponent - 32 * base
    # A rounded total may end below the lowest limb only with zero bits: shift them out.
    if position < 0:
        mantissa >>= -position
        position = 0
    limb, shift = position >> 5, position & 31
    low = (mantissa & 0xFFFFFFFF) << shift
    high = ((mantissa >> 32) << shift) + (low >> 32)
    limbs[limb] += sign * (low & 0xFFFFFFFF)
    limbs[limb + 1] += sign * (high & 0xFFFFFFFF)
    limbs[limb + 2] += sign * (high >> 32)


@kernel
def _nearest(limbs, base):
    magnitude = limbs.copy()
    for index in range(magnitude.size - 1):
        magnitude[index + 1] += magnitude[index] >> 32
        magnitude[index] &= 0xFFFFFFFF
    negative = magnitude[-1] < 0
    if negative:
        magnitude = -magnitude
        for index in range(magnitude.size - 1):
            magnitude[index + 1] += magnitude[index] >> 32
            magnitude[index] &= 0xFFFFFFFF
    top = magnitude.size - 1
    while top >= 0 and magnitude[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    value = _compose(magnitude, top, base)
    return -value if negative else value


@kernel
def _compose(magnitude, top, base):
    """Round limbs ``top``, ``top - 1``, ... (the top one is not zero) to 53 bits, ties to even."""
    length = 0
    while magnitude[top] >> length:
        length += 1
    significand = np.uint64(magnitude[top]) << np.uint64(64 - length)
    if top >= 1:
        significand |= np.uint64(magnitude[top - 1]) << np.uint64(32 - length)
    sticky = False
    if top >= 2:
        significand |= np.uint64(magnitude[top - 2]) >> np.uint64(length)
        sticky = (magnitude[top - 2] & ((1 << length) - 1)) != 0
    for index in range(top - 2):
        sticky = sticky or magnitude[index] != 0
    exponent = 32 * (base + top) + length - 1
    if exponent < 53:  # a subnormal, or just above: all bits fit
        return ldexp(np.float64(significand >> np.uint64(63 - exponent)), -1074)
    kept = np.int64(significand >> np.uint64(11))
    rest = np.int64(significand & np.uint64(0x7FF))
    if rest > 0x400 or (rest == 0x400 and (sticky or kept & 1)):
        kept += 1
    if kept >> 53:
        kept >>= 1
        exponent += 1
    if exponent - 52 - 1074 > 971:
        return np.inf
    return ldexp(np.float64(kept), int(exponent - 52 - 1074))
