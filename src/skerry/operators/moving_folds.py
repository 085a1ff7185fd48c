"""Aggregates over frames of sorted rows, to the last bit those of the rows in the frame alone.

A sum over a frame is the difference of two sums from the beginning. Sums are exact, so nothing is lost by that: an
answer depends neither on the rows before the frame nor on how rows came in batches.
"""

from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.group import Groups
from skerry.kernels.over import find_extremes
from skerry.model.arrays import Bools, Int64s
from skerry.operators.accumulators import Accumulator, Count, DecimalTotal, Extreme, Total, totals_of
from skerry.operators.order_codes import order_codes

__all__ = ["can_slide", "merge_carried", "slide"]

_BASE = 255
"""The bits of the first word of a total that hold the number of its lowest limb; the rest are flags."""
_LIMB = 0xFFFFFFFF
_DIGITS = 76
"""As many as a total of decimals has."""


def can_slide(accumulator: Accumulator) -> bool:
    """Whether frames of it can be computed here."""
    return type(accumulator) in (Count, DecimalTotal, Extreme, Total)


def slide(accumulator: Accumulator, values: pa.Array | None, low: Int64s, high: Int64s) -> pa.Array:
    """One accumulator per frame."""
    if isinstance(accumulator, Count):
        return pa.array(_count(values, low, high))
    assert values is not None, "only rows are counted without an argument"
    if isinstance(accumulator, Extreme):
        return _find_extreme(values, low, high, highest=accumulator.highest)
    rows = np.arange(len(values))
    each = accumulator.fold(values, Groups(rows, rows))
    if isinstance(accumulator, DecimalTotal):
        return _add_decimals(each, low, high)
    return _add_words(each, low, high)


def merge_carried(accumulator: Accumulator, found: pa.Array, carried: pa.Array, rows: Int64s) -> pa.Array:
    """Accumulators with what was carried over for some of their rows."""
    if not rows.size:
        return found
    own = np.arange(len(found))
    both = pa.concat_arrays([found, carried.cast(found.type)])
    return accumulator.merge(both, Groups(np.concatenate([own, rows]), own))


def _count(values: pa.Array | None, low: Int64s, high: Int64s) -> Int64s:
    if values is None or not values.null_count:
        return high - low
    counted = _prefix(values.is_valid().to_numpy(zero_copy_only=False).astype(np.int64))
    return counted[high] - counted[low]


def _prefix(values: np.ndarray) -> np.ndarray:
    """The sums of the values before each, and of all."""
    return np.concatenate([np.zeros((1, *values.shape[1:]), values.dtype), np.cumsum(values, axis=0)])


def _find_extreme(values: pa.Array, low: Int64s, high: Int64s, *, highest: bool) -> pa.Array:
    valid = values.is_valid().to_numpy(zero_copy_only=False)
    rows = find_extremes(order_codes(values), valid, low, high, highest=highest)
    found = values.take(pa.array(rows, mask=rows < 0))
    is_floating = pa.types.is_floating(values.type)
    return pc.add(found, pa.scalar(0.0, values.type)) if is_floating else found  # -0.0 equals 0.0


def _add_words(each: pa.Array, low: Int64s, high: Int64s) -> pa.Array:
    """Totals of frames, limb by limb; the limbs of all rows are those of the same powers of two."""
    totals = totals_of(each)
    words = totals.words.reshape(totals.count, -1) if totals.count else np.zeros((0, 2), np.int64)
    heads, sums = words[:, 0], _prefix(words[:, 1:])
    limbs = sums[high] - sums[low]
    for position in range(limbs.shape[1] - 1):
        limbs[:, position + 1] += limbs[:, position] >> 32
        limbs[:, position] &= _LIMB
    base = int(heads[0]) & _BASE if heads.size else 0
    found = np.column_stack([np.full(low.size, base) + _find_flags(heads & ~_BASE, low, high), limbs])
    offsets = np.arange(low.size + 1) * found.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(found.reshape(-1)))


def _find_flags(flags: Int64s, low: Int64s, high: Int64s) -> Int64s:
    """The flags that any row of a frame has."""
    found = np.zeros(low.size, np.int64)
    for bit in (1 << position for position in range(8, 16)) if flags.any() else ():
        met = _prefix((flags & bit != 0).astype(np.int64))
        is_met: Bools = met[high] > met[low]
        found |= np.where(is_met, bit, 0)
    return found


def _add_decimals(each: pa.Array, low: Int64s, high: Int64s) -> pa.Array:
    """By Arrow's exact decimals, as whole numbers: there is no kernel for them."""
    with localcontext() as context:
        context.prec = _DIGITS
        sums = np.cumsum(np.array([Decimal(0), *each.to_pylist()], dtype=object))
        return pa.array(list(sums[high] - sums[low]), each.type)
