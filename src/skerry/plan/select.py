"""The rows for which a predicate holds."""

from dataclasses import dataclass, field

import pyarrow as pa

from skerry.errors import InputError
from skerry.model.expression import Expression, columns_of, split_conjunction
from skerry.plan.node import Conditions, Node, Stateless

__all__ = ["Select"]


@dataclass(frozen=True)
class Select(Stateless):
    """The rows for which a predicate holds. ``text`` is the predicate as the user wrote it."""

    input: Node
    predicate: Expression
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """A predicate is true or false."""
        if self.predicate.type != pa.bool_():
            raise InputError("a predicate must be BOOLEAN, got", self.predicate.type)

    @property
    def schema(self) -> pa.Schema:
        """As the input's."""
        return self.input.schema

    def lag_us(self, column: str) -> int | None:
        """As the input's."""
        return self.input.lag_us(column)

    def columns_below(self, position: int, wanted: frozenset[str]) -> frozenset[str]:
        """Those, and what the predicate is about."""
        return wanted | columns_of(self.predicate)

    def conditions_below(self, conditions: Conditions) -> Conditions:
        """Those, and the predicate."""
        return (*conditions, *split_conjunction(self.predicate))

    def describe(self) -> str:
        """The predicate as written."""
        return f"Select {self.text}"
