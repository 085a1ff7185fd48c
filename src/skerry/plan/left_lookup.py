"""Rows of a stream beside rows of a table, or beside NULLs."""

from dataclasses import dataclass

from skerry.model.expression import Expression
from skerry.plan.lookup import Lookup

__all__ = ["LeftLookup"]


@dataclass(frozen=True)
class LeftLookup(Lookup):
    """Each row with the rows of a table that have equal keys, or with NULLs if there are none."""

    condition: Expression | None = None
    """What must hold of a row of the table for it to count."""

    def describe(self) -> str:
        """The keys, the table, and what else is asked of it."""
        condition = f", of the rows with {self.condition.sql}" if self.condition else ""
        return f"Left{super().describe()}{condition}"
