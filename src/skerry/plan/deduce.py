"""The plan node of a rule program: relations in, what one of its predicates holds out."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.model.types import TIMESTAMP
from skerry.plan.facts import Facts
from skerry.plan.nodes import Node
from skerry.plan.program import Checked, Output

__all__ = ["Deduce"]


@dataclass(frozen=True)
class Deduce(Node):
    """What a rule program makes true of what it reads, at times that are multiples of ``slide_us``."""

    relations: tuple[Node, ...]
    facts: tuple[Facts, ...]
    """How each relation is read."""
    program: Checked
    output: Output
    slide_us: int
    columns: pa.Schema
    """Those of the output's predicate."""
    lags: tuple[tuple[str, int], ...] = ()
    """How far behind the clock the times in some of its columns may lie."""
    shard: tuple[str, ...] = ()
    """By relation, the column of the host by which facts are spread over buckets; empty: one bucket."""
    modules: tuple[str, ...] = ()
    """The Python modules whose built-ins it may call beside Skerry's own, and where they are."""
    folder: str = "."

    @property
    def schema(self) -> pa.Schema:
        """When, whether begun (+) or ended (-), and the tuple."""
        return pa.schema([pa.field("_ts", TIMESTAMP), pa.field("_op", pa.string()), *self.columns])

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The relations that hold its facts."""
        return self.relations

    def keys(self, place: int) -> tuple[str, ...]:
        """What spreads a relation over buckets: the host that all rules share, if they do."""
        return self.shard[place : place + 1]

    def lag_of(self, column: str) -> int | None:
        """How far behind the clock a time among its columns may lie, if that is known."""
        return 0 if column == "_ts" else dict(self.lags).get(column)
