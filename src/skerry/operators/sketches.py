"""What approximate aggregates remember: little, and the same whatever the order and the batches.

A sketch here is a function of the set of values (or of how often each occurs), so that answers do not depend on how
readings were divided among batches, slices and buckets. That rules out sketches that compact at random or as they are
merged, such as KLL and t-digest (decision 051).
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Float64s, Int64s
from skerry.operators.accumulators import Accumulator
from skerry.operators.grouping import hash_column
from skerry.operators.row_accumulators import as_lists

__all__ = ["KEPT_HASHES", "LeastHashes", "RoundedValues", "estimate_distinct", "estimate_quantiles"]

KEPT_HASHES = 4096
"""So many hashes are kept: fewer different values are counted exactly, more with a standard error of 1.6 %."""
_HASHES = 2.0**63
_CUT_BITS = 42
"""So many of a double's 52 bits of fraction are rounded off: 11 significant bits remain."""


@dataclass(frozen=True)
class LeastHashes(Accumulator):
    """The least hashes of the different values that are not NULL.

    Z. Bar-Yossef, T. Jayram, R. Kumar, D. Sivakumar, L. Trevisan: Counting distinct elements in a data stream, 2002.
    """

    @property
    def name(self) -> str:
        """Hashes of the argument."""
        return f"hashes({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """A list of hashes, the least first."""
        return pa.list_(pa.int64())

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Hash, and keep the least."""
        assert values is not None, "hashes have an argument"
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        hashes = (hash_column(values.take(pa.array(rows))) >> np.uint64(1)).astype(np.int64)
        return self._keep_least(hashes, groups.numbers[rows], groups.count)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """The least of both."""
        numbers = groups.numbers[accumulators.value_parent_indices().to_numpy()]
        return self._keep_least(accumulators.flatten().to_numpy(), numbers, groups.count)

    def _keep_least(self, hashes: Int64s, numbers: Int64s, count: int) -> pa.Array:
        order = np.lexsort((hashes, numbers))
        hashes, numbers = hashes[order], numbers[order]
        is_new = np.ones(hashes.size, np.bool_)
        is_new[1:] = (np.diff(hashes) != 0) | (np.diff(numbers) != 0)
        hashes, numbers = hashes[is_new], numbers[is_new]
        rank = np.arange(numbers.size) - np.searchsorted(numbers, numbers)
        kept = rank < KEPT_HASHES
        return as_lists(pa.array(hashes[kept]), numbers[kept], count)


def estimate_distinct(hashes: pa.Array) -> pa.Array:
    """How many different values there are, by how densely the least hashes lie."""
    sizes = np.diff(hashes.offsets.to_numpy()).astype(np.int64)
    full = np.flatnonzero(sizes >= KEPT_HASHES)
    if full.size:
        last = pa.array(hashes.offsets.to_numpy()[1:][full] - 1)
        greatest = hashes.values.take(last).to_numpy().astype(np.float64)
        sizes[full] = np.rint((KEPT_HASHES - 1) * _HASHES / np.maximum(greatest, 1.0)).astype(np.int64)
    return pa.array(sizes)


@dataclass(frozen=True)
class RoundedValues(Accumulator):
    """How often each value occurs, rounded to 11 significant bits: to within 1/2048 of itself, 0.05 %.

    Whole numbers up to 2048 are exact. There are 1024 such values between a number and its double, so that readings of
    one kind take few.
    """

    @property
    def name(self) -> str:
        """Values of the argument, rounded."""
        return f"rounded({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """A list of values and counts, the least value first."""
        return pa.list_(pa.struct([("value", pa.float64()), ("count", pa.int64())]))

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Round, and count."""
        assert values is not None, "values have an argument"
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        doubles = values.take(pa.array(rows)).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return self._count(_round(doubles), np.ones(rows.size, np.int64), groups.numbers[rows], groups.count)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add counts up."""
        numbers = groups.numbers[accumulators.value_parent_indices().to_numpy()]
        values, counts = accumulators.flatten().flatten()
        return self._count(values.to_numpy(), counts.to_numpy(), numbers, groups.count)

    def _count(self, values: Float64s, counts: Int64s, numbers: Int64s, count: int) -> pa.Array:
        order = np.lexsort((values, numbers))
        values, counts, numbers = values[order], counts[order], numbers[order]
        is_new = np.ones(values.size, np.bool_)
        is_same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
        is_new[1:] = ~is_same | (np.diff(numbers) != 0)
        first = np.flatnonzero(is_new)
        sums = np.add.reduceat(counts, first) if first.size else counts
        rows = pa.StructArray.from_arrays([pa.array(values[first]), pa.array(sums)], fields=list(self.type.value_type))
        return as_lists(rows, numbers[first], count)


def _round(values: Float64s) -> Float64s:
    """The nearest doubles of 11 significant bits."""
    bits = (values + 0.0).view(np.int64)
    half, mask = np.int64(1 << (_CUT_BITS - 1)), np.int64(-1 << _CUT_BITS)
    rounded: Float64s = ((bits + half) & mask).view(np.float64)
    return np.where(np.isfinite(values) & np.isfinite(rounded), rounded, values)


def estimate_quantiles(sketches: pa.Array, fractions: tuple[float, ...]) -> list[tuple[Float64s, np.ndarray]]:
    """For each fraction the quantile of each group, between two values if need be, and whether it has any value."""
    flat, ends = sketches.flatten(), np.cumsum(np.diff(sketches.offsets.to_numpy()))
    values, counts = (column.to_numpy() for column in flat.flatten())
    before = np.concatenate([[0], np.cumsum(counts)])
    totals = np.diff(np.concatenate([[0], before[ends]]))
    starts, is_any = before[ends] - totals, totals > 0
    found = []
    for fraction in fractions:
        position = np.maximum(totals - 1, 0) * fraction
        low = np.floor(position).astype(np.int64)
        high = np.minimum(low + 1, np.maximum(totals - 1, 0))
        lower, upper = (_find_ranks(values, before, starts + rank, is_any) for rank in (low, high))
        found.append((np.where(lower == upper, lower, lower + (upper - lower) * (position - low)), is_any))
    return found


def _find_ranks(values: Float64s, before: Int64s, ranks: Int64s, is_any: np.ndarray) -> Float64s:
    """The values at some ranks, counted over all groups."""
    if not values.size:
        return np.zeros(ranks.size)
    rows = np.searchsorted(before, ranks, side="right") - 1
    return values[np.where(is_any, np.minimum(rows, values.size - 1), 0)]
