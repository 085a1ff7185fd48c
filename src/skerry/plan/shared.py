"""Plan nodes for many views in one. Their predicates are in a packed index, so that a plan of thousands is small."""

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from skerry.model.expression import Columns
from skerry.plan.nodes import Aggregate, Join, Node

__all__ = ["DEALT", "Deal", "Wanted"]

DEALT = pa.schema({"views": pa.list_(pa.string()), "counts": pa.list_(pa.int64()), "rows": pa.large_binary()})
"""Answers of many views in one batch: a row for views with the same columns, in it the rows of one view after the
other's, packed, and how many each has."""


@dataclass(frozen=True)
class Wanted(Node):
    """The rows for which some of the predicates in an index hold."""

    input: Node
    index: bytes

    @property
    def schema(self) -> pa.Schema:
        """As the input's."""
        return self.input.schema

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)


@dataclass(frozen=True)
class Deal(Node):
    """The combinations of a join or the groups of an aggregate, dealt out to views; a row holds what some of them give.

    The index has each view's predicate by the view's name, over the columns of the input. Those of a join have the
    ages of the members behind them: its windows are the widest of all views', and a view's own one is part of its
    predicate.
    """

    input: Join | Aggregate
    index: bytes
    views: tuple[tuple[str, Columns], ...]

    @property
    def schema(self) -> pa.Schema:
        """Views with the same columns, and their rows packed."""
        return DEALT

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The one input."""
        return (self.input,)

    @cached_property
    def outputs(self) -> dict[str, pa.Schema]:
        """The views, and the columns of each."""
        kinds = {columns for _, columns in self.views}
        schemas = {kind: pa.schema([pa.field(name, expression.type) for name, expression in kind]) for kind in kinds}
        return {view: schemas[columns] for view, columns in self.views}
