"""The rows of a query over the catalogue."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from skerry.errors import SetupError

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["QueryResult"]


@dataclass(frozen=True)
class QueryResult:
    """The rows of a query, in the form that is asked for."""

    table: pa.Table

    def to_arrow(self) -> pa.Table:
        """An Arrow table."""
        return self.table

    def to_pandas(self) -> "DataFrame":
        """A pandas frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars frame, where Polars is installed."""
        try:
            return import_module("polars").from_arrow(self.table)
        except ImportError:
            raise SetupError("to_polars needs Polars: pip install polars") from None
