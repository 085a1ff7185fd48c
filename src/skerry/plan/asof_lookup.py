"""Rows of a stream, each beside the latest row of a table."""

from dataclasses import dataclass, field

import pyarrow as pa

from skerry.model.expression import Expression, columns_of
from skerry.plan.lookup import Lookup

__all__ = ["AsofLookup"]

_NO_TIME = Expression("NULL", pa.timestamp("us"))


@dataclass(frozen=True)
class AsofLookup(Lookup):
    """Each row with the row of a table that has equal keys and the latest time at or before its own."""

    time: Expression = field(default=_NO_TIME)
    table_time: Expression = field(default=_NO_TIME)
    kept: bool = False
    """Whether rows that find nothing are given with NULLs."""
    strictly: bool = False

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """Those that a lookup needs, and the time."""
        return super().columns_below(position, wanted) | columns_of(self.time)

    @property
    def looked_up(self) -> frozenset[str]:
        """Keys, and the table's time."""
        return super().looked_up | columns_of(self.table_time)

    def describe(self) -> str:
        """The keys, the times and the table."""
        left = "Left" if self.kept else ""
        comparison = ">" if self.strictly else ">="
        return f"{left}Asof{super().describe()}, the latest with {self.time.sql} {comparison} {self.table_time.sql}"
