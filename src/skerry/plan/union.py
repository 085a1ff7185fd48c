"""All rows of several relations (``UNION ALL``)."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from skerry.errors import InputError
from skerry.plan.node import Conditions, ManyInputs, Node

__all__ = ["Union", "list_parts"]


@dataclass(frozen=True)
class Union(ManyInputs):
    """All rows of several relations with the same columns. It keeps none: rows go on as they come.

    Where all that is below keeps nothing either, it is no part of what runs: each source feeds what is above. Over what
    keeps state it is where the answers meet.
    """

    relations: tuple[Node, ...]
    needs_every_reading: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Rows of one relation have one schema."""
        if len({(tuple(each.schema.names), tuple(each.schema.types)) for each in self.relations}) != 1:
            raise InputError("the parts of a union differ in their columns")

    @property
    def schema(self) -> pa.Schema:
        """That of each part."""
        return self.relations[0].schema

    def lag_us(self, column: str) -> int | None:
        """As far behind as the part that is furthest behind."""
        lags = [lag for each in self.relations if (lag := each.lag_us(column)) is not None]
        return max(lags) if len(lags) == len(self.relations) else None

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """The wanted ones."""
        return wanted

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """All of them: a row is that of a part."""
        return conditions

    @property
    def is_changing(self) -> bool:
        """Whether those of its parts are."""
        return any(each.is_changing for each in self.relations)

    @property
    def waits(self) -> bool:
        """Rows go on as they come."""
        return False

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """Rows do not meet."""
        return ()

    def time_of(self, position: int) -> str | None:
        """It waits for nothing."""
        return None

    def describe(self) -> str:
        """How many parts there are."""
        return f"Union of {len(self.relations)} parts"

    def describe_buckets(self) -> str:
        """Where answers meet."""
        return "in one bucket"

    def describe_state(self) -> str:
        """Nothing."""
        return "none of its own"

    def describe_route(self, position: int) -> str:
        """Each part has its source."""
        return f"route of part {position + 1}: beside the source"


def list_parts(node: Node) -> tuple[Node, ...]:
    """The relations whose rows a relation has: those of a union, and of unions in it; or itself.

    >>> from skerry.catalog import Source
    >>> from skerry.plan.scan import Scan
    >>> road = Scan(Source("road", pa.schema({"speed": pa.float64()}), "file"))
    >>> len(list_parts(Union((road, Union((road, road))))))
    3
    """
    return tuple(part for each in node.relations for part in list_parts(each)) if isinstance(node, Union) else (node,)
