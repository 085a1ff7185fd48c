"""Views that only select: where a stream has many, the query index finds the readings of all of them at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.catalog import Source
from skerry.catalog.counters import VIEW
from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.dialect import parse_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.expression import Columns
from skerry.operators.fan_out import ViewSplitter
from skerry.plan.project import Project
from skerry.plan.select import Select
from skerry.subscriptions.counters import COUNTS, Counted

__all__ = ["Selections"]


@dataclass(frozen=True)
class Selections:
    """Views over one stream, each of which only selects. The index travels packed: to make it takes long."""

    source: Source
    index: bytes
    columns: Mapping[str, Columns]

    @classmethod
    def of(cls, views: Sequence[CutView]) -> "Selections":
        """These views, all of the same stream."""
        source = views[0].feeds[0].source
        index, columns = QueryIndex(source.schema, open_duckdb), dict[str, Columns]()
        for view in views:
            selection, projection = view.feeds[0].below
            assert isinstance(selection, Select)
            assert isinstance(projection, Project)
            tree = parse_expression(selection.predicate.sql)
            index.add(view.name, region_of(tree, source.schema, open_duckdb))
            columns[view.name] = projection.columns
        return cls(source, index.save(), columns)

    def __contains__(self, view: str) -> bool:
        """Whether a view is one of them."""
        return view in self.columns

    @cached_property
    def _counted(self) -> Counted:
        return Counted(QueryIndex.restore(self.index, self.source.schema, open_duckdb), VIEW, self.source)

    @cached_property
    def _splitter(self) -> ViewSplitter:
        return ViewSplitter(self._counted, self.columns)

    def answers(self, batch: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """What each view that any reading answers has to say, and under ``COUNTS`` how often each was true."""
        return self._splitter.answers(batch) | {COUNTS: self._counted.counts}
