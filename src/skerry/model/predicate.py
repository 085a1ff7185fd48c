"""Predicates that Arrow decides as DuckDB does: columns beside constants, joined by AND, OR and NOT.

The two differ over NaN. DuckDB orders it above all numbers and equal to itself; for Arrow every comparison
with it is false. No constant is NaN here, so only "greater" differs, and is asked as "not less or equal".
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from skerry.errors import InputError

__all__ = ["SIGNS", "All", "Compared", "Holds", "Missing", "Negated", "Predicate", "Some"]

Marks: TypeAlias = "pa.Array[Any]"
"""True, false or NULL for each row."""


class Predicate(ABC):
    """A question about each row of a batch, in three-valued logic. Immutable, picklable."""

    @abstractmethod
    def marks(self, batch: pa.RecordBatch) -> Marks:
        """Say of each row whether the predicate holds."""

    @abstractmethod
    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """The same question about columns of other names."""


def _greater(values: Marks, constant: Any) -> Marks:
    return pc.invert(pc.less_equal(values, constant))


def _greater_or_equal(values: Marks, constant: Any) -> Marks:
    return pc.invert(pc.less(values, constant))


SIGNS: Mapping[str, Callable[[Marks, Any], Marks]] = {
    "<": pc.less,
    "<=": pc.less_equal,
    "<>": pc.not_equal,
    "=": pc.equal,
    ">": _greater,
    ">=": _greater_or_equal,
}
"""What a column and a constant can be to each other."""


@dataclass(frozen=True)
class Compared(Predicate):
    """A column beside a constant of its own type.

    >>> slow = Compared("speed", "<", pa.scalar(30.0))
    >>> slow.marks(pa.record_batch({"speed": [20.0, 50.0, None]})).to_pylist()
    [True, False, None]
    """

    column: str
    sign: str
    constant: "pa.Scalar[Any]"

    def __post_init__(self) -> None:
        """The constant is a value, and one that can be ordered."""
        value = self.constant.as_py()
        if self.sign not in SIGNS or value is None or value != value:
            raise InputError(f"{self.column} {self.sign} {value} is no comparison")

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """NULL where the column is."""
        return SIGNS[self.sign](batch.column(self.column), self.constant)

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """The same of another column."""
        return replace(self, column=names[self.column])


@dataclass(frozen=True)
class Holds(Predicate):
    """A column that is true or false itself."""

    column: str

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """The column as it is."""
        return batch.column(self.column)

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """The same of another column."""
        return replace(self, column=names[self.column])


@dataclass(frozen=True)
class Missing(Predicate):
    """A column that is NULL."""

    column: str

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """Never NULL itself."""
        return batch.column(self.column).is_null()

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """The same of another column."""
        return replace(self, column=names[self.column])


@dataclass(frozen=True)
class Negated(Predicate):
    """What does not hold."""

    part: Predicate

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """NULL stays NULL."""
        return pc.invert(self.part.marks(batch))

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """Its part is about other columns."""
        return Negated(self.part.rename(names))


@dataclass(frozen=True)
class All(Predicate):
    """Several predicates that hold together.

    >>> both = All((Holds("wet"), Missing("speed")))
    >>> both.marks(pa.record_batch({"wet": pa.array([None, None], pa.bool_()), "speed": [None, 1.0]})).to_pylist()
    [None, False]
    """

    parts: tuple[Predicate, ...]

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """False as soon as one is, whatever else is NULL."""
        return reduce(pc.and_kleene, (part.marks(batch) for part in self.parts))

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """Its parts are about other columns."""
        return All(tuple(part.rename(names) for part in self.parts))


@dataclass(frozen=True)
class Some(Predicate):
    """Several predicates of which one is enough."""

    parts: tuple[Predicate, ...]

    def marks(self, batch: pa.RecordBatch) -> Marks:
        """True as soon as one is, whatever else is NULL."""
        return reduce(pc.or_kleene, (part.marks(batch) for part in self.parts))

    def rename(self, names: Mapping[str, str]) -> "Predicate":
        """Its parts are about other columns."""
        return Some(tuple(part.rename(names) for part in self.parts))
