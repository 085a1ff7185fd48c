"""The columns that hold how old each member of a combination is, as of the newest of them."""

from collections.abc import Sequence

import pyarrow as pa

from skerry.plan.side import Side

__all__ = ["age_of", "with_ages"]


def age_of(side: str) -> str:
    """The column that holds the age of a side's member; no column of a side is called so.

    >>> age_of("gate")
    '#age of gate'
    """
    return f"#age of {side}"


def with_ages(schema: pa.Schema, sides: Sequence[Side]) -> pa.Schema:
    """The columns of combinations, and an age a side in microseconds."""
    return pa.schema([*schema, *(pa.field(age_of(side.name), pa.int64()) for side in sides)])
