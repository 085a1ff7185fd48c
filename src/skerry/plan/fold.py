"""An aggregate function of SQL over a column: what an aggregate computes for each group."""

from dataclasses import dataclass

import pyarrow as pa

__all__ = ["FUNCTIONS", "Fold"]

FUNCTIONS = ("avg", "count", "count_distinct", "max", "min", "stddev_pop", "stddev_samp", "sum")


@dataclass(frozen=True)
class Fold:
    """An aggregate function over a column (None: over rows) under the name of its answer."""

    function: str
    argument: str | None
    argument_type: pa.DataType | None
    name: str

    @property
    def type(self) -> pa.DataType:
        """The type of the answer: SUM widens as PostgreSQL's does."""
        if self.function in ("count", "count_distinct"):
            return pa.int64()
        if self.function in ("min", "max"):
            return self.argument_type
        if self.function == "sum" and pa.types.is_integer(self.argument_type):
            return pa.decimal128(38, 0) if self.argument_type == pa.int64() else pa.int64()
        if self.function == "sum" and self.argument_type is not None and pa.types.is_decimal(self.argument_type):
            return pa.decimal128(38, self.argument_type.scale)
        return pa.float64()
