"""Standard deviations by group, from exact sums of the values and of their squares.

    deviation^2 = (squares - sum^2 / count) / (count - lost)      lost: 1 for a sample, else 0

The difference cancels, the more the farther the values lie from zero, so it is taken in pairs of
doubles (106 bits; T. J. Dekker: A floating-point technique for extending the available precision,
1971). Where that is not enough, as for a sensor that is stuck, it is taken in whole numbers.
"""

from fractions import Fraction
from math import sqrt

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.folds.exact_sums import Totals, as_fraction, halves
from skerry.model.arrays import Float64s, Int64s

__all__ = ["deviations", "squares"]


_TOO_CLOSE = 1e-13
"""Below this fraction of the sums, a difference of two pairs of doubles has lost bits that count."""


def squares(values: Float64s) -> tuple[Float64s, Float64s]:
    """The squares of values as what a double holds and what is left over.

    Exact between 1e-138 and 1e140; a square above the greatest double is infinite.

    >>> main, rest = squares(np.array([1.0 + 2.0**-30]))
    >>> float(main[0]) == 1.0 + 2.0**-29, float(rest[0]) == 2.0**-60
    (True, True)
    """
    return _squares(values)


def deviations(sums: Totals, square_sums: Totals, counts: Int64s, *, sample: bool) -> Float64s:
    """The deviation of each group; NaN where it is not defined, or a value or square was not finite."""
    if not sums.count == square_sums.count == counts.size:
        raise KernelError("sums, squares and counts differ in length:", sums.count, square_sums.count, counts.size)
    lost = 1 if sample else 0
    found, close = _deviations(*halves(sums), *halves(square_sums), counts, lost)
    for row in np.flatnonzero(close).tolist():
        found[row] = _in_whole_numbers(sums, square_sums, row, int(counts[row]), lost)
    return found


def _in_whole_numbers(sums: Totals, square_sums: Totals, row: int, count: int, lost: int) -> float:
    difference: Fraction = as_fraction(square_sums, row) - as_fraction(sums, row) ** 2 / count
    # Squares beyond the exact range may come out too small.
    return sqrt(max(difference, Fraction(0)) / (count - lost))


@kernel
def _squares(values):
    """Dekker's product of a value with itself."""
    main = np.empty_like(values)
    rest = np.empty_like(values)
    for row in range(values.size):
        value = values[row]
        product = value * value
        main[row] = product
        rest[row] = 0.0
        if np.isfinite(product) and abs(value) < 1e140:
            split = 134217729.0 * value
            high = split - (split - value)
            low = value - high
            rest[row] = ((high * high - product) + 2.0 * high * low) + low * low
    return main, rest


@kernel
def _deviations(sum_high, sum_low, square_high, square_low, counts, lost):
    """The deviations, and which of them are differences too close for pairs of doubles."""
    found = np.full(counts.size, np.nan)
    close = np.zeros(counts.size, np.bool_)
    for row in range(counts.size):
        count = counts[row]
        if count <= lost or not np.isfinite(square_high[row]) or not np.isfinite(sum_high[row]):
            continue
        # sum^2 / count as a pair, from (high + low)^2 with the remainder of the division folded in.
        product = sum_high[row] * sum_high[row]
        split = 134217729.0 * sum_high[row]
        high = split - (split - sum_high[row])
        low = sum_high[row] - high
        rest = ((high * high - product) + 2.0 * high * low) + low * low + 2.0 * sum_high[row] * sum_low[row]
        quotient = product / count
        split = 134217729.0 * quotient
        high = split - (split - quotient)
        low = quotient - high
        back = quotient * count
        back_rest = (high * count - back) + low * count
        remainder = ((product - back) - back_rest + rest) / count
        difference = (square_high[row] - quotient) + (square_low[row] - remainder)
        close[row] = not difference >= _TOO_CLOSE * quotient  # NaN, from an overflow, is too close as well
        found[row] = np.sqrt(max(difference, 0.0) / (count - lost))
    return found, close
