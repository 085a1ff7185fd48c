"""Rows of a stream beside the first row of a table that belongs to each."""

from dataclasses import dataclass

from skerry.plan.left_lookup import LeftLookup

__all__ = ["FirstLookup"]


@dataclass(frozen=True)
class FirstLookup(LeftLookup):
    """Each row once: with the first row of a table that is found for it, or with NULLs if there is none."""

    def describe(self) -> str:
        """The keys, the table, and what else is asked of it."""
        return f"First{super().describe().removeprefix('Left')}"
