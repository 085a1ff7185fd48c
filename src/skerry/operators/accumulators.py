"""What an aggregate must remember of a group: accumulators, which are folded from values and can be merged.

The accumulators of one group, from any number of batches and in any order, merge to the same answer, to the last bit:
sums are exact (``kernels.folds.exact_sums``), and the rest does not depend on order anyway.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from skerry.kernels.folds.deviation import products, squares
from skerry.kernels.folds.exact_sums import Totals, add_totals, add_values
from skerry.kernels.folds.extremes import greatest, least
from skerry.kernels.folds.group import Groups
from skerry.model.arrays import Bools, Float64s
from skerry.operators.grouping import group_rows, integers

__all__ = [
    "Accumulator",
    "Count",
    "DecimalTotal",
    "Distinct",
    "Extreme",
    "Products",
    "Total",
    "as_totals",
    "mark_valid",
    "totals_of",
]

_WORDS = pa.list_(pa.int64())


@dataclass(frozen=True)
class Accumulator(ABC):
    """One remembered value per group, about the column ``argument`` (or about rows, if it is None)."""

    argument: str | None
    argument_type: pa.DataType | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """A name that two accumulators share if they remember the same."""

    @property
    @abstractmethod
    def type(self) -> pa.DataType:
        """The type of the remembered values."""

    @property
    def values_type(self) -> pa.DataType | None:
        """The type of what is folded."""
        return self.argument_type

    def read(self, batch: pa.RecordBatch) -> pa.Array | None:
        """What is folded of a batch."""
        return None if self.argument is None else batch.column(self.argument)

    @abstractmethod
    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Remember values, one accumulator per group."""

    @abstractmethod
    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Make one accumulator of those in each group."""


@dataclass(frozen=True)
class Count(Accumulator):
    """How many values that are not NULL, or how many rows."""

    @property
    def name(self) -> str:
        """Count of the argument."""
        return f"count({self.argument or '*'})"

    @property
    def type(self) -> pa.DataType:
        """A whole number."""
        return pa.int64()

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Count."""
        numbers = groups.numbers
        if values is not None and values.null_count:
            numbers = numbers[values.is_valid().to_numpy(zero_copy_only=False)]
        return pa.array(np.bincount(numbers, minlength=groups.count).astype(np.int64))

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add up."""
        counts = np.zeros(groups.count, np.int64)
        np.add.at(counts, groups.numbers, accumulators.to_numpy())
        return pa.array(counts)


@dataclass(frozen=True)
class Total(Accumulator):
    """The exact sum of the values, or of their squares."""

    squared: bool = False

    @property
    def name(self) -> str:
        """Total of the argument. A total of 64-bit integers and one of the doubles nearest to them differ."""
        if self.argument_type == pa.int64():
            return f"whole({self.argument})"
        return f"{'squares' if self.squared else 'total'}({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """The words of an exact total."""
        return _WORDS

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Add values up."""
        assert values is not None, "a total has an argument"
        parts, valid, numbers = self.parts(values), mark_valid(values), groups.numbers
        if len(parts) == 1:
            return as_totals(add_values(parts[0], valid, numbers, groups.count))
        twice = np.concatenate(parts), np.concatenate([valid, valid]), np.concatenate([numbers, numbers])
        return as_totals(add_values(*twice, groups.count))

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add totals up."""
        return as_totals(add_totals(totals_of(accumulators), groups.numbers, groups.count))

    def parts(self, values: pa.Array) -> list[np.ndarray]:
        """Doubles whose exact sum is the sum sought: a 64-bit integer takes two, and so does a square."""
        if self.argument_type == pa.int64():
            whole = integers(values)
            assert whole is not None
            return [(whole >> 32).astype(np.float64) * 2.0**32, (whole & 0xFFFFFFFF).astype(np.float64)]
        doubles = _doubles(values)
        return list(squares(doubles)) if self.squared else [doubles]


@dataclass(frozen=True)
class Products(Accumulator):
    """The exact sum of the products of two columns of doubles, of which both are NULL or none."""

    factor: str = ""

    @property
    def name(self) -> str:
        """Products of both arguments."""
        return f"products({self.argument}, {self.factor})"

    @property
    def type(self) -> pa.DataType:
        """The words of an exact total."""
        return _WORDS

    @property
    def values_type(self) -> pa.DataType:
        """A pair."""
        return pa.struct([("left", pa.float64()), ("right", pa.float64())])

    def read(self, batch: pa.RecordBatch) -> pa.Array | None:
        """Both columns."""
        columns = [batch.column(name) for name in (self.argument, self.factor)]
        return pa.StructArray.from_arrays(columns, fields=list(self.values_type))

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Multiply, and add up."""
        assert values is not None, "products have arguments"
        parts = np.concatenate(self.parts(values))
        valid, numbers = mark_valid(values.flatten()[0]), groups.numbers
        return as_totals(add_values(parts, np.tile(valid, 2), np.tile(numbers, 2), groups.count))

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add totals up."""
        return as_totals(add_totals(totals_of(accumulators), groups.numbers, groups.count))

    def parts(self, values: pa.Array) -> list[np.ndarray]:
        """Doubles whose exact sum is that of the products."""
        left, right = values.flatten()
        return list(products(_doubles(left), _doubles(right)))


@dataclass(frozen=True)
class DecimalTotal(Accumulator):
    """The exact sum of decimals, with room for every sum of 38 digits."""

    @property
    def name(self) -> str:
        """Total of the argument."""
        return f"decimal({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """As wide as decimals get."""
        assert self.argument_type is not None
        return pa.decimal256(76, self.argument_type.scale)

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Add values up."""
        assert values is not None, "a total has an argument"
        return self.merge(values.cast(self.type), groups)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Add totals up."""
        return _reduce_groups(accumulators.fill_null(0), groups, "sum").cast(self.type)


@dataclass(frozen=True)
class Extreme(Accumulator):
    """The least or the greatest value."""

    highest: bool = False

    @property
    def name(self) -> str:
        """Extreme of the argument."""
        return f"{'greatest' if self.highest else 'least'}({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """The argument's own."""
        assert self.argument_type is not None
        return self.argument_type

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Find it."""
        assert values is not None, "an extreme has an argument"
        floating = pa.types.is_floating(values.type)
        numbers = _doubles(values) if floating else integers(values)
        if numbers is None:  # texts, decimals, dates
            return _reduce_groups(values, groups, "max" if self.highest else "min")
        valid = mark_valid(values)
        found, any_ = (greatest if self.highest else least)(numbers, valid, groups.numbers, groups.count)
        plain = pa.array(found + 0, mask=~any_)  # -0.0 equals 0.0, so the first to come must not show
        return plain.cast(pa.bool_()) if pa.types.is_boolean(values.type) else plain.cast(values.type)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """The extreme of extremes."""
        return self.fold(accumulators, groups)


@dataclass(frozen=True)
class Distinct(Accumulator):
    """The different values that are not NULL."""

    @property
    def name(self) -> str:
        """Distinct values of the argument."""
        return f"distinct({self.argument})"

    @property
    def type(self) -> pa.DataType:
        """A list of the argument's type."""
        return pa.list_(self.argument_type)

    def fold(self, values: pa.Array | None, groups: Groups) -> pa.Array:
        """Collect."""
        assert values is not None, "distinct values have an argument"
        rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        return self._collect(values.take(pa.array(rows)), groups.numbers[rows], groups.count)

    def merge(self, accumulators: pa.Array, groups: Groups) -> pa.Array:
        """Unite."""
        return self._collect(
            accumulators.flatten(), groups.numbers[accumulators.value_parent_indices().to_numpy()], groups.count
        )

    def _collect(self, values: pa.Array, numbers: np.ndarray, count: int) -> pa.Array:
        first = group_rows([pa.array(numbers), values], len(values)).first
        order = first[np.argsort(numbers[first], kind="stable")]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(numbers[first], minlength=count))])
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values.take(pa.array(order)), type=self.type)


def _reduce_groups(values: pa.Array, groups: Groups, verb: str) -> pa.Array:
    """One value per group, by Arrow: for types that the kernels do not know. A group may have no rows."""
    numbers = np.concatenate([groups.numbers, np.arange(groups.count)])
    table = pa.table({"group": numbers, "value": pa.concat_arrays([values, pa.nulls(groups.count, values.type)])})
    found = table.group_by("group").aggregate([("value", verb)]).sort_by("group")
    return found[f"value_{verb}"].combine_chunks()


def mark_valid(values: pa.Array) -> Bools:
    """Which values are not NULL."""
    if not values.null_count:
        return np.ones(len(values), np.bool_)
    return values.is_valid().to_numpy(zero_copy_only=False)


def _doubles(values: pa.Array) -> Float64s:
    """Numbers as doubles, NULL as 0; without a copy where there is nothing to change."""
    doubles = pc.cast(values, pa.float64(), safe=False)
    return (doubles.fill_null(0.0) if doubles.null_count else doubles).to_numpy(zero_copy_only=False)


def totals_of(accumulators: pa.Array) -> Totals:
    """View a column of totals as the kernel's arrays."""
    offsets = accumulators.offsets.to_numpy().astype(np.int64)
    return Totals(offsets - offsets[0], accumulators.flatten().to_numpy())


def as_totals(totals: Totals) -> pa.Array:
    """A column of totals."""
    return pa.ListArray.from_arrays(pa.array(totals.offsets, pa.int32()), pa.array(totals.words))
