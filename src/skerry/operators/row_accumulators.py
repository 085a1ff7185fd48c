"""What is remembered of rows: one row per group, the first in some order, or all of them.

Both take the columns of a fold as one struct, named c0 (the argument), c1, ...; rows that do not count are NULL in it.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import LimitError
from skerry.kernels.folds.extremes import greatest, least
from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Bools, Int64s
from skerry.operators.accumulators import Accumulator
from skerry.operators.grouping import integers
from skerry.plan.fold import Fold, Ordering

__all__ = ["MOST_VALUES", "Chosen", "Collected", "as_lists"]

MOST_VALUES = 10_000_000
"""How many rows of one window and group are kept, at most."""


@dataclass(frozen=True)
class _OfRows(Accumulator):
    """The columns of a fold, and which rows of them count."""

    others: tuple[tuple[str, pa.DataType], ...] = ()
    where: str | None = None
    keeps_null: bool = False

    @property
    def values_type(self) -> pa.DataType:
        """The columns of a row."""
        types = [self.argument_type, *(type_ for _, type_ in self.others)]
        return pa.struct([(f"c{number}", type_) for number, type_ in enumerate(types)])

    def read(self, batch: pa.RecordBatch) -> pa.Array | None:
        """Rows, those that do not count as NULL."""
        columns = [batch.column(str(self.argument)), *(batch.column(name) for name, _ in self.others)]
        counted = batch.column(self.where).fill_null(False) if self.where else None
        if not self.keeps_null and columns[0].null_count:
            counted = columns[0].is_valid() if counted is None else pc.and_(counted, columns[0].is_valid())
        fields = list(self.values_type)
        if counted is None:
            return pa.StructArray.from_arrays(columns, fields=fields)
        return pa.StructArray.from_arrays(columns, fields=fields, mask=pc.invert(counted))

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Take rows in."""
        assert values is not None, "rows have columns"
        if not values.null_count:
            return self._keep(values, groups.numbers, groups.count)
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        return self._keep(values.take(pa.array(rows)), groups.numbers[rows], groups.count)

    @abstractmethod
    def _keep(self, rows: pa.StructArray, numbers: Int64s, count: int) -> pa.Array:
        """What is remembered of rows that count, one value per group."""

    def _describe(self) -> str:
        columns = ", ".join([str(self.argument), *(name for name, _ in self.others)])
        where = f" where {self.where}" if self.where else ""
        return f"{columns}{where}{' or null' if self.keeps_null else ''}"


@dataclass(frozen=True)
class Chosen(_OfRows):
    """The row that is first by c1, c2, ..., and of rows that are equal there by c0; NULL of a group without rows.

    No order of arrival is asked: equal rows are the same row. A value that cannot be compared comes with its text as
    the last key. Costs a few passes over the rows, and no sort.
    """

    order: tuple[Ordering, ...] = ()

    @classmethod
    def of(cls, fold: Fold) -> "Chosen":
        """What a fold must remember."""
        return cls(fold.argument, fold.argument_type, fold.others, fold.where, fold.keeps_null, fold.order)

    @property
    def name(self) -> str:
        """First of the argument, by the order."""
        return f"first({self._describe()} by {', '.join(each.sql for each in self.order)})"

    @property
    def type(self) -> pa.DataType:
        """A row."""
        return self.values_type

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """The first of those that were first."""
        return self.fold(accumulators, groups)

    def _keep(self, rows: pa.StructArray, numbers: Int64s, count: int) -> pa.Array:
        value, *keys = rows.flatten()
        left, filled = np.arange(len(rows)), np.count_nonzero(np.bincount(numbers, minlength=count))
        for column, ordering in zip([*keys, value], self.order, strict=False):
            if left.size == filled:
                break  # no group has two rows left
            chosen = _mark_first(column.take(pa.array(left)), ordering, numbers[left], count)
            left = left[chosen]
        first = np.full(count, -1)
        first[numbers[left][::-1]] = left[::-1]
        return rows.take(pa.array(first, mask=first < 0))


def _mark_first(column: pa.Array, ordering: Ordering, numbers: Int64s, count: int) -> Bools:
    """The rows of each group that are first by a column."""
    codes, valid = _rank(column), column.is_valid().to_numpy(zero_copy_only=False)
    found, is_any = (greatest if ordering.descending else least)(codes, valid, numbers, count)
    marked: Bools = valid & (codes == found[numbers])
    if ordering.nulls_first:
        has_null = np.bincount(numbers[~valid], minlength=count) > 0
        return np.where(has_null[numbers], ~valid, marked)
    return marked | ~is_any[numbers]


def _rank(column: pa.Array) -> Int64s:
    """Numbers in the order of the values; what SQL holds equal, but for the sign of zero, is equal."""
    type_ = column.type
    if pa.types.is_floating(type_):
        doubles = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        bits = np.where(np.isnan(doubles), np.nan, doubles).view(np.int64)
        return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    if pa.types.is_date32(type_) or pa.types.is_time64(type_):
        column = column.cast(pa.int32() if pa.types.is_date32(type_) else pa.int64())
    whole = integers(column)
    if whole is not None:
        return whole
    encoded = column.dictionary_encode()
    ranks = pc.rank(encoded.dictionary, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    return np.append(ranks, 0)[encoded.indices.fill_null(-1).to_numpy()]


@dataclass(frozen=True)
class Collected(_OfRows):
    """All rows that count."""

    @classmethod
    def of(cls, fold: Fold) -> "Collected":
        """What a fold must remember."""
        return cls(fold.argument, fold.argument_type, fold.others, fold.where, fold.keeps_null)

    @property
    def name(self) -> str:
        """All rows of the columns."""
        return f"all({self._describe()})"

    @property
    def type(self) -> pa.DataType:
        """A list of rows."""
        return pa.list_(self.values_type)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Put lists together."""
        numbers = groups.numbers[accumulators.value_parent_indices().to_numpy()]
        return self._keep(accumulators.flatten(), numbers, groups.count)

    def _keep(self, rows: pa.StructArray, numbers: Int64s, count: int) -> pa.Array:
        sizes = np.bincount(numbers, minlength=count)
        if sizes.size and sizes.max() > MOST_VALUES:
            message = f"a window has more than {MOST_VALUES:,} values of one group, and an aggregate that needs all"
            raise LimitError(f"{message}; take shorter windows, more groups, or APPROX_QUANTILE")
        return as_lists(rows, numbers, count)


def as_lists(values: pa.Array, numbers: Int64s, count: int) -> pa.Array:
    """The values of each group as a list, in their order."""
    if numbers.size and (np.diff(numbers) < 0).any():
        order = np.argsort(numbers, kind="stable")
        values, numbers = values.take(pa.array(order)), numbers[order]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=pa.list_(values.type))
