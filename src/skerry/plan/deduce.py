"""What a rule program makes true."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.time import describe_interval
from skerry.model.types import TIMESTAMP
from skerry.plan.facts import Facts
from skerry.plan.node import ManyInputs, Node
from skerry.plan.program import Checked, Output

__all__ = ["Deduce"]


@dataclass(frozen=True)
class Deduce(ManyInputs):
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
    changing: bool = False
    """Whether what ends takes back what began, for those who read it."""

    @property
    def is_changing(self) -> bool:
        """Whether it was asked for as changes; otherwise each change is a row of its own."""
        return self.changing

    @property
    def schema(self) -> pa.Schema:
        """When, whether begun (+) or ended (-), and the tuple."""
        return pa.schema([pa.field("_ts", TIMESTAMP), pa.field("_op", pa.string()), *self.columns])

    def bucket_keys(self, position: int) -> tuple[str, ...]:
        """The host that all rules share, if they do."""
        return self.shard[position : position + 1]

    def time_of(self, position: int) -> str | None:
        """When facts begin to hold."""
        return self.facts[position].time

    def feed_name(self, position: int, source: Source) -> str:
        """The predicate that the relation holds the facts of."""
        return self.facts[position].predicate

    def lag_us(self, column: str) -> int | None:
        """The tick goes with the watermark; other times as the rules bound them."""
        return 0 if column == "_ts" else dict(self.lags).get(column)

    def describe(self) -> str:
        """What is deduced, from what, and how often."""
        facts = ", ".join(each.predicate for each in self.facts)
        return f"Deduce {self.output.predicate} from {facts}, every {describe_interval(self.slide_us)}"

    def describe_buckets(self) -> str:
        """By host, if all rules share it."""
        return f"by {self.shard[0]}, the host that all rules share" if self.shard else "in one bucket"

    def describe_state(self) -> str:
        """Facts, and what is derived."""
        return "every fact for its window, and what follows from them"
