"""Many views answered together: one join or aggregate, and the rows of each view by its own predicate."""

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from skerry.model.expression import Columns, Expression
from skerry.plan.ages import with_ages
from skerry.plan.aggregate import Aggregate
from skerry.plan.join import Join
from skerry.plan.node import Node, Stateful, Stateless
from skerry.plan.sliced_aggregate import SlicedAggregate

__all__ = ["FANNED_OUT", "FanOut", "Queries", "SelectAny"]

Queries = tuple[tuple[str, Expression], ...]
"""Predicates by name."""

FANNED_OUT = pa.schema({"views": pa.list_(pa.string()), "counts": pa.list_(pa.int64()), "rows": pa.large_binary()})
"""Answers of many views in one batch: a row for views with the same columns, in it the rows of one view after the
other's, packed, and how many each has."""


@dataclass(frozen=True)
class SelectAny(Stateless):
    """The rows for which any of some predicates holds."""

    input: Node
    queries: Queries
    index: bytes = b""
    """The same queries as a query index. Made once, before the plan travels to where it runs."""

    @property
    def schema(self) -> pa.Schema:
        """As the input's."""
        return self.input.schema

    @property
    def query_schema(self) -> pa.Schema:
        """The columns that the predicates name."""
        return self.schema

    def describe(self) -> str:
        """How many predicates there are."""
        return f"SelectAny of {len(self.queries)} predicates, by the query index"


@dataclass(frozen=True)
class FanOut(Stateless):
    """The rows of a state, as combinations of a join or groups of an aggregate, each given to the views that want it.

    The queries are the views' predicates, over the columns of the input. Those of a join have the ages of the members
    behind them: its windows are the widest of all views', and a view's own window is part of its predicate.
    """

    input: Stateful
    queries: Queries
    views: tuple[tuple[str, Columns], ...]
    index: bytes = b""
    """The same queries as a query index. Made once, before the plan travels to where it runs."""

    @property
    def schema(self) -> pa.Schema:
        """Views with the same columns, and their rows packed."""
        return FANNED_OUT

    @property
    def query_schema(self) -> pa.Schema:
        """The columns that the predicates name."""
        return with_ages(self.input.schema, self.input.sides) if isinstance(self.input, Join) else self.input.schema

    def outputs(self, view: str) -> dict[str, pa.Schema]:
        """The views, and the columns of each."""
        return self._outputs

    @cached_property
    def _outputs(self) -> dict[str, pa.Schema]:
        kinds = {columns for _, columns in self.views}
        schemas = {kind: pa.schema([pa.field(name, expression.type) for name, expression in kind]) for kind in kinds}
        return {view: schemas[columns] for view, columns in self.views}

    def describe(self) -> str:
        """How many views there are."""
        return f"FanOut to {len(self.views)} views, by the query index"

    def describe_sharing(self) -> str:
        """What one of the views shares with the others, for ``explain``."""
        others = len(self.views) - 1
        those = f"{others} other views" if others > 1 else "another view"
        return f"; {self.describe_shared()} for this and {those}, told apart by the query index"

    def describe_shared(self) -> str:
        """What the views share, for ``explain``."""
        if isinstance(self.input, Join):
            return f"one join over {self.input.describe_windows()}"
        if isinstance(self.input, SlicedAggregate):
            return f"one store of slices over {self.input.describe_windows()}"
        return "one aggregate" if isinstance(self.input, Aggregate) else "one state"
