"""Variances, covariances and regressions from exact sums."""

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from skerry.kernels.folds.deviation import central_sums, deviations
from skerry.kernels.folds.exact_sums import as_doubles
from skerry.model.arrays import Float64s, Int64s
from skerry.operators.accumulators import totals_of
from skerry.plan.fold import Fold

__all__ = ["finish_deviation", "finish_pair", "finish_variance"]


def finish_deviation(fold: Fold, totals: pa.Array, squares: pa.Array, counts: pa.Array) -> pa.Array:
    """The standard deviation of a sample or of a population."""
    sample, numbers = fold.function == "stddev_samp", counts.to_numpy()
    found = deviations(totals_of(totals), totals_of(squares), numbers, sample=sample)
    return pa.array(found, mask=numbers <= (1 if sample else 0))


def finish_variance(fold: Fold, totals: pa.Array, squares: pa.Array, counts: pa.Array) -> pa.Array:
    """The variance of a sample or of a population."""
    lost, numbers = 1 if fold.function == "var_samp" else 0, counts.to_numpy()
    sums = totals_of(totals)
    central = np.maximum(central_sums(sums, sums, totals_of(squares), numbers), 0.0)
    return pa.array(central / np.maximum(numbers - lost, 1), mask=numbers <= lost)


def finish_pair(fold: Fold, *sums: pa.Array) -> pa.Array:
    """What two columns have to do with each other. ``sums`` are those of left, right, squares, products; and counts."""
    left, right, left_squares, right_squares, both = (totals_of(each) for each in sums[:5])
    numbers = sums[5].to_numpy()
    if fold.function == "regr_count":
        return pa.array(numbers)
    sxx = np.maximum(central_sums(right, right, right_squares, numbers), 0.0)
    syy = np.maximum(central_sums(left, left, left_squares, numbers), 0.0)
    sxy = central_sums(left, right, both, numbers)
    means = [as_doubles(each) / np.maximum(numbers, 1) for each in (right, left)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found, is_null = _PAIRS[fold.function](numbers, sxx, syy, sxy, *means)
    return pa.array(found, mask=is_null | (numbers == 0))


Pair = tuple[Float64s, np.ndarray]
_LEAST_NORMAL = float(np.finfo(np.float64).tiny)


def _covariance_of_sample(n: Int64s, sxx: Float64s, syy: Float64s, sxy: Float64s, *_: Float64s) -> Pair:
    return sxy / np.maximum(n - 1, 1), n < 2


def _correlate(n: Int64s, sxx: Float64s, syy: Float64s, sxy: Float64s, *_: Float64s) -> Pair:
    both = sxx * syy
    # The root of a square is exact, so that a column correlates with itself by 1; but a product may leave the range.
    root = np.where(np.isfinite(both) & (both > _LEAST_NORMAL), np.sqrt(both), np.sqrt(sxx) * np.sqrt(syy))
    return np.clip(sxy / root, -1.0, 1.0), n == 0


def _share(n: Int64s, sxx: Float64s, syy: Float64s, sxy: Float64s, *_: Float64s) -> Pair:
    found = np.where(syy == 0, 1.0, sxy * sxy / (sxx * syy))
    return np.where(np.isnan(sxy), sxy, np.minimum(found, 1.0)), sxx == 0


def _intercept(n: Int64s, sxx: Float64s, syy: Float64s, sxy: Float64s, x: Float64s, y: Float64s) -> Pair:
    return y - sxy / sxx * x, sxx == 0


_PAIRS: Mapping[str, Callable[..., Pair]] = {
    "corr": _correlate,
    "covar_pop": lambda n, sxx, syy, sxy, x, y: (sxy / np.maximum(n, 1), n == 0),
    "covar_samp": _covariance_of_sample,
    "regr_avgx": lambda n, sxx, syy, sxy, x, y: (x, n == 0),
    "regr_avgy": lambda n, sxx, syy, sxy, x, y: (y, n == 0),
    "regr_intercept": _intercept,
    "regr_r2": _share,
    "regr_slope": lambda n, sxx, syy, sxy, x, y: (sxy / sxx, n == 0),
    "regr_sxx": lambda n, sxx, syy, sxy, x, y: (sxx, n == 0),
    "regr_sxy": lambda n, sxx, syy, sxy, x, y: (sxy, n == 0),
    "regr_syy": lambda n, sxx, syy, sxy, x, y: (syy, n == 0),
}
"""Of y (the first argument, left) and x (the second, right): the number, and whether there is none."""
