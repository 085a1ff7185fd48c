"""The aggregate functions of SQL, as what they remember and what they make of it."""

from collections.abc import Callable, Mapping
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.deviation import deviations
from skerry.kernels.folds.exact_sums import as_doubles, halves
from skerry.model.arrays import Bools
from skerry.operators.accumulators import Accumulator, Count, DecimalTotal, Distinct, Extreme, Total, totals_of
from skerry.plan.fold import Fold

__all__ = ["accumulators", "finish"]


def accumulators(fold: Fold) -> tuple[Accumulator, ...]:
    """What must be remembered for a fold. Two folds over one column share equal accumulators."""
    column = (fold.argument, fold.argument_type)
    counted = Count(*column)
    if fold.function == "count":
        return (counted,)
    if fold.function == "count_distinct":
        return (Distinct(*column),)
    if fold.function in ("min", "max"):
        return (Extreme(*column, highest=fold.function == "max"),)
    if fold.function in ("sum", "avg") and pa.types.is_decimal(fold.argument_type):
        return (DecimalTotal(*column), counted)
    if fold.function in ("sum", "avg"):
        return (Total(*column), counted)
    as_double = (fold.argument, pa.float64())
    return (Total(*as_double), Total(*as_double, squared=True), counted)


def finish(fold: Fold, table: Mapping[str, pa.Array]) -> pa.Array:
    """The answers of a fold, one per group, from the accumulators by name."""
    return _FINISH[fold.function](fold, *(table[each.name] for each in accumulators(fold)))


def _keep(fold: Fold, values: pa.Array) -> pa.Array:
    return values


def _distinct(fold: Fold, values: pa.Array) -> pa.Array:
    return pc.cast(pc.list_value_length(values), pa.int64())


def _sum(fold: Fold, totals: pa.Array, counts: pa.Array) -> pa.Array:
    none = counts.to_numpy() == 0
    if pa.types.is_decimal(fold.argument_type):
        return _fit_decimals(totals, fold.type, none)
    if not pa.types.is_integer(fold.argument_type):
        return pa.array(as_doubles(totals_of(totals)), mask=none)
    high, low = halves(totals_of(totals))
    if fold.type == pa.int64():
        return pa.array(high.astype(np.int64) + low.astype(np.int64), mask=none)
    whole = [None if gone else Decimal(int(a) + int(b)) for a, b, gone in zip(high, low, none, strict=True)]
    return pa.array(whole, fold.type)


def _fit_decimals(totals: pa.Array, type_: pa.DataType, none: Bools) -> pa.Array:
    """Sums of decimals; NULL where one has more digits than the type."""
    limit = pa.scalar(Decimal(10) ** (type_.precision - type_.scale), totals.type)
    fits = pc.and_(pc.less(totals, limit), pc.greater(totals, pc.negate(limit)))
    return pc.if_else(pc.and_(fits, pa.array(~none)), totals, None).cast(type_)


def _average(fold: Fold, totals: pa.Array, counts: pa.Array) -> pa.Array:
    numbers = counts.to_numpy()
    if pa.types.is_decimal(fold.argument_type):
        doubles = totals.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return pa.array(doubles / np.maximum(numbers, 1), mask=numbers == 0)
    return pa.array(as_doubles(totals_of(totals)) / np.maximum(numbers, 1), mask=numbers == 0)


def _deviation(fold: Fold, totals: pa.Array, squares: pa.Array, counts: pa.Array) -> pa.Array:
    sample = fold.function == "stddev_samp"
    numbers = counts.to_numpy()
    found = deviations(totals_of(totals), totals_of(squares), numbers, sample=sample)
    return pa.array(found, mask=numbers <= (1 if sample else 0))


_FINISH: Mapping[str, Callable[..., pa.Array]] = {
    "avg": _average,
    "count": _keep,
    "count_distinct": _distinct,
    "max": _keep,
    "min": _keep,
    "stddev_pop": _deviation,
    "stddev_samp": _deviation,
    "sum": _sum,
}
