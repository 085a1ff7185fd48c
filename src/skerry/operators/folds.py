"""The aggregate functions of SQL, as what they remember and what they make of it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.exact_sums import as_doubles, halves
from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Bools
from skerry.operators.accumulators import (
    Accumulator,
    Count,
    DecimalTotal,
    Distinct,
    Extreme,
    Products,
    Total,
    totals_of,
)
from skerry.operators.finish_moments import finish_deviation, finish_pair, finish_variance
from skerry.operators.finish_rows import finish_rows
from skerry.operators.row_accumulators import Chosen, Collected
from skerry.operators.sketches import LeastHashes, RoundedValues, estimate_distinct, estimate_quantiles
from skerry.plan.fold import Fold, Method

__all__ = ["accumulators", "finish"]

_PAIRS = ("corr", "covar_", "regr_")
"""What the names of functions of two columns begin with."""


def accumulators(fold: Fold) -> tuple[Accumulator, ...]:
    """What must be remembered for a fold. Two folds over one column share equal accumulators."""
    column = (fold.argument, fold.argument_type)
    if fold.method == Method.CHOSEN:
        return (Chosen.of(fold),)
    if fold.method == Method.COLLECTED:
        return (Collected.of(fold),)
    if fold.method == Method.SKETCHED:
        return ((LeastHashes if fold.function == "approx_count_distinct" else RoundedValues)(*column),)
    if fold.method == Method.DISTINCT or fold.function == "count_distinct":
        return (Distinct(*column),)
    return _list_totals(fold)


def _list_totals(fold: Fold) -> tuple[Accumulator, ...]:
    column = (fold.argument, fold.argument_type)
    counted = Count(*column)
    if fold.function == "count":
        return (counted,)
    if fold.function in ("min", "max", "bool_and", "bool_or"):
        return (Extreme(*column, highest=fold.function in ("max", "bool_or")),)
    if fold.function in ("sum", "avg") and pa.types.is_decimal(fold.argument_type):
        return (DecimalTotal(*column), counted)
    if fold.function in ("sum", "avg"):
        return (Total(*column), counted)
    as_double = (fold.argument, pa.float64())
    if not fold.function.startswith(_PAIRS):
        return (Total(*as_double), Total(*as_double, squared=True), counted)
    ((factor, _),) = fold.others
    other = (factor, pa.float64())
    squares = (Total(*as_double, squared=True), Total(*other, squared=True))
    return (Total(*as_double), Total(*other), *squares, Products(*as_double, factor=factor), counted)


def finish(fold: Fold, table: Mapping[str, pa.Array]) -> pa.Array:
    """The answers of a fold, one per group, from the accumulators by name."""
    remembered = [table[each.name] for each in accumulators(fold)]
    if fold.method == Method.CHOSEN:
        return remembered[0].flatten()[0]
    if fold.method == Method.COLLECTED:
        return finish_rows(fold, remembered[0])
    if fold.method == Method.DISTINCT:
        return _finish_distinct(fold, remembered[0])
    finisher = finish_pair if fold.function.startswith(_PAIRS) else _FINISH[fold.function]
    return finisher(fold, *remembered)


def _finish_distinct(fold: Fold, lists: pa.Array) -> pa.Array:
    """Fold the different values, each once."""
    plain = replace(fold, method=Method.TOTALS)
    groups = Groups(lists.value_parent_indices().to_numpy(), np.arange(len(lists)))
    values = lists.flatten()
    return finish(plain, {each.name: each.fold(values, groups) for each in accumulators(plain)})


def _finish_quantiles(fold: Fold, sketches: pa.Array) -> pa.Array:
    """One number per group, or a list of them."""
    is_list = pa.types.is_list(fold.type)
    type_ = fold.type.value_type if is_list else fold.type
    columns = [_as_type(found, is_any, type_) for found, is_any in estimate_quantiles(sketches, fold.settings)]
    if not is_list:
        return columns[0]
    order = np.arange(len(columns) * len(sketches)).reshape(len(columns), -1).T.reshape(-1)
    offsets = np.arange(len(sketches) + 1) * len(columns)
    values, is_empty = pa.concat_arrays(columns).take(pa.array(order)), columns[0].is_null()
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=fold.type, mask=is_empty)


def _as_type(found: np.ndarray, is_any: Bools, type_: pa.DataType) -> pa.Array:
    """Doubles in the type of the answer, whole numbers rounded to the nearest."""
    whole = np.copysign(np.floor(np.abs(found) + 0.5), found) if pa.types.is_integer(type_) else found
    return pa.array(np.where(is_any, whole, 0.0), mask=~is_any).cast(type_, safe=False)


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


_FINISH: Mapping[str, Callable[..., pa.Array]] = {
    "approx_count_distinct": lambda fold, hashes: estimate_distinct(hashes),
    "approx_quantile": _finish_quantiles,
    "avg": _average,
    "bool_and": _keep,
    "bool_or": _keep,
    "count": _keep,
    "count_distinct": _distinct,
    "max": _keep,
    "min": _keep,
    "stddev_pop": finish_deviation,
    "stddev_samp": finish_deviation,
    "sum": _sum,
    "var_pop": finish_variance,
    "var_samp": finish_variance,
}
