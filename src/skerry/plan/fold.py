"""An aggregate function of SQL over columns: what an aggregate computes for each group."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

__all__ = ["Fold", "Method", "Ordering"]

_KEEP_TYPE = ("bool_and", "bool_or", "max", "min")
_COUNTS = ("approx_count_distinct", "count", "count_distinct", "regr_count")


class Method(StrEnum):
    """How a fold gets at its answer."""

    TOTALS = "totals"
    """From sums, counts and extremes, which are as small for many readings as for few."""
    DISTINCT = "distinct"
    """The same over the different values, which are all kept."""
    CHOSEN = "chosen"
    """The value of one row: the first in an order."""
    COLLECTED = "collected"
    """From all rows, by DuckDB, when the window is over."""
    SKETCHED = "sketched"
    """From a sketch of the values, within a stated error."""


@dataclass(frozen=True)
class Ordering:
    """How rows are put in order by a column."""

    descending: bool = False
    nulls_first: bool = False

    @property
    def sql(self) -> str:
        """The words behind a column."""
        return f"{'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@dataclass(frozen=True)
class Fold:
    """An aggregate function over a column (None: over rows) under the name of its answer.

    ``others`` are further columns: second arguments, and what rows are ordered by. ``where`` is a column that says
    which rows count. ``text`` is the call as DuckDB runs it, over the columns c0 (the argument), c1, ...;
    ``settings`` are constant arguments.
    """

    function: str
    argument: str | None
    argument_type: pa.DataType | None
    name: str
    method: Method = Method.TOTALS
    others: tuple[tuple[str, pa.DataType], ...] = ()
    order: tuple[Ordering, ...] = ()
    where: str | None = None
    keeps_null: bool = False
    text: str = ""
    settings: tuple[float, ...] = ()
    answer: pa.DataType | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that it is computed from."""
        found = (self.argument, *(name for name, _ in self.others), self.where)
        return tuple(name for name in found if name is not None)

    @property
    def type(self) -> pa.DataType:
        """The type of the answer: SUM widens as PostgreSQL's does."""
        if self.answer is not None:
            return self.answer
        if self.function in _COUNTS:
            return pa.int64()
        if self.function in _KEEP_TYPE or self.method == Method.CHOSEN:
            return self.argument_type
        if self.function == "sum" and pa.types.is_integer(self.argument_type):
            return pa.decimal128(38, 0) if self.argument_type == pa.int64() else pa.int64()
        if self.function == "sum" and self.argument_type is not None and pa.types.is_decimal(self.argument_type):
            return pa.decimal128(38, self.argument_type.scale)
        return pa.float64()

    def describe(self, meaning: Callable[[str], str]) -> str:
        """The function over what its columns mean."""
        arguments = [meaning(each) for each in (self.argument or "*", *(name for name, _ in self.others))]
        where = f" FILTER (WHERE {meaning(self.where)})" if self.where else ""
        if self.text:
            call = self.text.replace(self.function, self.function.upper(), 1)
            return re.sub(r"\bc(\d+)\b", lambda found: arguments[int(found[1])], call) + where
        return f"{self.function.upper()}({', '.join(arguments)}){where}"
