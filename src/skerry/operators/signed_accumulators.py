"""What an aggregate remembers of a group whose rows can be taken back.

What is a sum is subtracted from. All else is computed from the rows themselves, so these are remembered, each with how
often it is there. As with other accumulators, what is merged in any order and division is the same to the last bit.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.exact_sums import Totals, add_values
from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Bools, Int64s
from skerry.operators.accumulators import (
    Accumulator,
    Count,
    DecimalTotal,
    Products,
    Total,
    as_totals,
    mark_valid,
    totals_of,
)
from skerry.operators.grouping import group_rows
from skerry.operators.row_accumulators import Collected, as_lists
from skerry.operators.sketches import RoundedValues

__all__ = ["Signed", "Tally", "exact_keys", "sign"]

_NAN, _PLUS, _MINUS = 256, 512, 1024
"""The flags of a total (``kernels.folds.exact_sums``)."""
_WORDS = pa.list_(pa.int64())
_ROWS = Count(None)


@dataclass(frozen=True)
class Signed(Accumulator):
    """An accumulator of rows that come and go, in place of ``inner``, which knows only rows that come."""

    inner: Accumulator = _ROWS

    @property
    def name(self) -> str:
        """As the other is called."""
        return self.inner.name

    def read(self, batch: pa.RecordBatch) -> pa.Array | None:
        """As the other does."""
        return self.inner.read(batch)

    @abstractmethod
    def negate(self, accumulators: pa.Array) -> pa.Array:
        """What takes back what is remembered."""

    @abstractmethod
    def settle(self, accumulators: pa.Array) -> pa.Array:
        """What the other would have remembered of the rows that are left."""


@dataclass(frozen=True)
class _Number(Signed):
    """A count, or a sum of decimals."""

    @property
    def type(self) -> pa.DataType:
        """The other's."""
        return self.inner.type

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """As the other does."""
        return self.inner.fold(values, groups)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add up."""
        return self.inner.merge(accumulators, groups)

    def negate(self, accumulators: pa.Array) -> pa.Array:
        """The number below zero."""
        return pc.negate(accumulators)

    def settle(self, accumulators: pa.Array) -> pa.Array:
        """The number."""
        return accumulators


@dataclass(frozen=True)
class _Total(Signed):
    """The exact sum of finite doubles, and how many others there are: infinity less infinity is not zero."""

    @property
    def type(self) -> pa.DataType:
        """The words of a total, and counts."""
        return pa.struct([("words", _WORDS), *((name, pa.int64()) for name in ("nan", "plus", "minus"))])

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Add values up."""
        assert values is not None, "a total has an argument"
        assert isinstance(self.inner, Total | Products)
        parts = self.inner.parts(values)
        valid = mark_valid(values.flatten()[0] if pa.types.is_struct(values.type) else values)
        doubles, valid = np.concatenate(parts), np.tile(valid, len(parts))
        numbers = np.tile(groups.numbers, len(parts))
        finite = np.isfinite(doubles)
        words = as_totals(add_values(np.where(finite, doubles, 0.0), valid & finite, numbers, groups.count))
        others = (np.isnan(doubles), doubles == np.inf, doubles == -np.inf)
        counts = [_count(marks & valid, numbers, groups.count) for marks in others]
        return pa.StructArray.from_arrays([words, *counts], fields=list(self.type))

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add up."""
        words, *counts = accumulators.flatten()
        merged = [Count(None).merge(each, groups) for each in counts]
        return pa.StructArray.from_arrays([self._sum.merge(words, groups), *merged], fields=list(self.type))

    def negate(self, accumulators: pa.Array) -> pa.Array:
        """All below zero."""
        words, *counts = accumulators.flatten()
        totals = totals_of(words)
        negative = -totals.words
        heads = totals.offsets[:-1]
        negative[heads] = totals.words[heads]  # where the limbs stand
        parts = [as_totals(Totals(totals.offsets, negative)), *map(pc.negate, counts)]
        return pa.StructArray.from_arrays(parts, fields=list(self.type))

    def settle(self, accumulators: pa.Array) -> pa.Array:
        """The total, with flags for what is not finite."""
        words, *counts = accumulators.flatten()
        totals = totals_of(words)
        found = totals.words.copy()
        for flag, count in zip((_NAN, _PLUS, _MINUS), counts, strict=True):
            found[totals.offsets[:-1]] |= np.where(count.to_numpy() > 0, flag, 0)
        return as_totals(Totals(totals.offsets, found))

    @property
    def _sum(self) -> Accumulator:
        return Total("value", pa.float64())


@dataclass(frozen=True)
class Tally(Signed):
    """The different rows that an accumulator would take in, and how often each is there."""

    @property
    def type(self) -> pa.DataType:
        """A list of rows and counts."""
        return pa.list_(pa.struct([("row", self.inner.values_type), ("count", pa.int64())]))

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Count."""
        assert values is not None, "rows have columns"
        rows = np.flatnonzero(mark_valid(values))
        return self._count(
            values.take(pa.array(rows)), np.ones(rows.size, np.int64), groups.numbers[rows], groups.count
        )

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add counts up."""
        numbers = groups.numbers[accumulators.value_parent_indices().to_numpy()]
        rows, counts = accumulators.flatten().flatten()
        return self._count(rows, counts.to_numpy(), numbers, groups.count)

    def negate(self, accumulators: pa.Array) -> pa.Array:
        """All counts below zero."""
        rows, counts = accumulators.flatten().flatten()
        entries = pa.StructArray.from_arrays([rows, pc.negate(counts)], fields=list(self.type.value_type))
        offsets = accumulators.offsets.to_numpy()
        return pa.ListArray.from_arrays(pa.array(offsets - offsets[0]), entries, type=self.type)

    def settle(self, accumulators: pa.Array) -> pa.Array:
        """Let the other fold the rows that are there: each as often, or once where that is the same."""
        rows, counts = accumulators.flatten().flatten()
        often = np.maximum(counts.to_numpy(), 0)
        if not isinstance(self.inner, Collected | RoundedValues):
            often = np.minimum(often, 1)
        chosen = np.repeat(np.arange(often.size), often)
        numbers = accumulators.value_parent_indices().to_numpy()[chosen]
        return self.inner.fold(rows.take(pa.array(chosen)), Groups(numbers, np.arange(len(accumulators))))

    def _count(self, rows: pa.Array, counts: Int64s, numbers: Int64s, count: int) -> pa.Array:
        columns = rows.flatten() if pa.types.is_struct(rows.type) else [rows]
        keys = [pa.array(numbers), *(key for column in columns for key in exact_keys(column))]
        found = group_rows(keys, len(rows))
        sums = np.zeros(found.count, np.int64)
        np.add.at(sums, found.numbers, counts)
        left = np.flatnonzero(sums)
        first = found.first[left]
        entries = [rows.take(pa.array(first)), pa.array(sums[left])]
        merged = pa.StructArray.from_arrays(entries, fields=list(self.type.value_type))
        return as_lists(merged, numbers[first], count)


def sign(accumulator: Accumulator) -> Signed:
    """The accumulator of rows that come and go, in place of one of rows that only come."""
    column = accumulator.argument, accumulator.argument_type
    if isinstance(accumulator, Count | DecimalTotal):
        return _Number(*column, inner=accumulator)
    if isinstance(accumulator, Total | Products):
        return _Total(*column, inner=accumulator)
    return Tally(*column, inner=accumulator)


def exact_keys(column: pa.Array) -> Sequence[pa.Array]:
    """Columns that are equal where values are the same to the last bit; NaN is one value.

    >>> [key.to_pylist() for key in exact_keys(pa.array([0.0, -0.0]))]
    [[0.0, -0.0], [False, True]]
    """
    if not pa.types.is_floating(column.type):
        return [column]
    negative = np.signbit(column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False))
    nan = pc.is_nan(column).fill_null(False).to_numpy(zero_copy_only=False)
    return [column, pa.array(negative & ~nan)]


def _count(marks: Bools, numbers: Int64s, count: int) -> pa.Array:
    return pa.array(np.bincount(numbers[marks], minlength=count).astype(np.int64))
