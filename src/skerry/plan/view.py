"""A standing query."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skerry.catalog import Source
from skerry.model.changes import drop_op
from skerry.plan.derived_table import list_base_tables
from skerry.plan.node import Node, Stateless, walk
from skerry.plan.scan import Scan

__all__ = ["VIEW_CONNECTOR", "ViewPlan"]

VIEW_CONNECTOR = "view"
"""In place of a connector, where a view is read as a stream: nothing is opened."""


@dataclass(frozen=True)
class ViewPlan:
    """A standing query: its name, what it means, and its options."""

    name: str
    root: Node
    options: Mapping[str, str] = field(default_factory=dict)
    views: tuple[str, ...] = ()
    """The views it reads; their plans are part of its own."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources it reads, each once."""
        found = {node.source.name: node.source for node in walk(self.root) if isinstance(node, Scan)}
        return tuple(found.values())

    @property
    def tables(self) -> tuple[Source, ...]:
        """The tables it looks things up in, each once."""
        nodes = [node for node in walk(self.root) if isinstance(node, Stateless)]
        found = {table.name: table for node in nodes for table in node.tables}
        return tuple(found.values())

    @property
    def named_tables(self) -> tuple[Source, ...]:
        """The tables of the catalogue's, or the user's, that it reads: those that others are computed from."""
        return tuple({base.name: base for table in self.tables for base in list_base_tables(table)}.values())

    def as_stream(self) -> Source:
        """The view as FROM sees it. Its time is its one time column; of several, a window says which it goes by."""
        times = self.root.time_columns
        event_time = times[0] if len(times) == 1 else None
        period_us = self.sources[0].sample_period_us if self._only_selects else None
        columns = drop_op(self.root.schema) if self.root.is_changing else self.root.schema
        return Source(self.name, columns, VIEW_CONNECTOR, event_time=event_time, sample_period_us=period_us)

    @property
    def _only_selects(self) -> bool:
        """Whether its rows are readings of one source, or made of one each."""
        return all(isinstance(node, Stateless | Scan) for node in walk(self.root))
