"""Deviations and covariances by group, from exact sums of values and of their products.

    central sum = products - sum * other_sum / count        of one column: the squares of its deviations
    deviation^2 = central sum / (count - lost)              lost: 1 for a sample, else 0

The difference cancels, the more the farther the values lie from zero, so it is taken in pairs of
doubles (106 bits; T. J. Dekker: A floating-point technique for extending the available precision,
1971). Where that is not enough, as for a sensor that is stuck, it is taken in whole numbers.
"""

from fractions import Fraction

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.kernels.folds.exact_sums import Totals, as_fraction, halves
from skerry.model.arrays import Float64s, Int64s

__all__ = ["central_sums", "deviations", "products", "squares"]


_TOO_CLOSE = 1e-13
"""Below this fraction of the sums, a difference of two pairs of doubles has lost bits that count."""


def squares(values: Float64s) -> tuple[Float64s, Float64s]:
    """The squares of values as what a double holds and what is left over.

    Exact between 1e-138 and 1e140; a square above the greatest double is infinite.

    >>> main, rest = squares(np.array([1.0 + 2.0**-30]))
    >>> float(main[0]) == 1.0 + 2.0**-29, float(rest[0]) == 2.0**-60
    (True, True)
    """
    return products(values, values)


def products(left: Float64s, right: Float64s) -> tuple[Float64s, Float64s]:
    """The products of values as what a double holds and what is left over. Exact as squares are."""
    if left.size != right.size:
        raise KernelError("factors differ in length:", left.size, right.size)
    return _products(left, right)


def deviations(sums: Totals, square_sums: Totals, counts: Int64s, *, sample: bool) -> Float64s:
    """The deviation of each group; NaN where it is not defined, or a value or square was not finite."""
    lost = 1 if sample else 0
    central = np.maximum(central_sums(sums, sums, square_sums, counts), 0.0)
    return np.where(counts > lost, np.sqrt(central / np.maximum(counts - lost, 1)), np.nan)


def central_sums(sums: Totals, other_sums: Totals, product_sums: Totals, counts: Int64s) -> Float64s:
    """Of each group, the sum of the products of what two columns differ from their means by.

    NaN of an empty group, and where a value or product was not finite.
    """
    if not sums.count == other_sums.count == product_sums.count == counts.size:
        lengths = sums.count, other_sums.count, product_sums.count, counts.size
        raise KernelError("sums, products and counts differ in length:", *lengths)
    found, close = _central_sums(*halves(sums), *halves(other_sums), *halves(product_sums), counts)
    for row in np.flatnonzero(close).tolist():
        product = as_fraction(sums, row) * as_fraction(other_sums, row)
        difference: Fraction = as_fraction(product_sums, row) - product / int(counts[row])
        found[row] = float(difference)
    return found


@kernel
def _products(left, right):
    """Dekker's product of two values."""
    main = np.empty_like(left)
    rest = np.empty_like(left)
    for row in range(left.size):
        product = left[row] * right[row]
        main[row] = product
        rest[row] = 0.0
        if np.isfinite(product) and abs(left[row]) < 1e140 and abs(right[row]) < 1e140:
            rest[row] = _rest_of_product(left[row], right[row], product)
    return main, rest


@kernel
def _rest_of_product(left, right, product):
    split = 134217729.0 * left
    left_high = split - (split - left)
    left_low = left - left_high
    split = 134217729.0 * right
    right_high = split - (split - right)
    right_low = right - right_high
    return ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low


@kernel
def _central_sums(left_high, left_low, right_high, right_low, product_high, product_low, counts):
    """The sums, and which of them are differences too close for pairs of doubles."""
    found = np.full(counts.size, np.nan)
    close = np.zeros(counts.size, np.bool_)
    for row in range(counts.size):
        count, left, right = counts[row], left_high[row], right_high[row]
        if count == 0 or not (np.isfinite(product_high[row]) and np.isfinite(left) and np.isfinite(right)):
            continue
        # left * right / count as a pair, with the remainder of the division folded in.
        product = left * right
        rest = _rest_of_product(left, right, product) + left * right_low[row] + left_low[row] * right
        quotient = product / count
        split = 134217729.0 * quotient
        high = split - (split - quotient)
        low = quotient - high
        back = quotient * count
        back_rest = (high * count - back) + low * count
        remainder = ((product - back) - back_rest + rest) / count
        difference = (product_high[row] - quotient) + (product_low[row] - remainder)
        close[row] = not abs(difference) >= _TOO_CLOSE * abs(quotient)  # NaN, from an overflow, is too close as well
        found[row] = difference
    return found, close
