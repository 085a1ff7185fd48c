"""Views that only select: where a stream has many, the query index finds the readings of all of them at once."""

from collections.abc import Sequence

import pyarrow as pa
import sqlglot

from skerry.catalog.counters import VIEW
from skerry.fjord.counters import COUNTS, Counted
from skerry.index.index import QueryIndex
from skerry.index.reading import region_of
from skerry.operators.dealing import Columns, Dealer
from skerry.operators.derive import evaluator
from skerry.plan.nodes import Project, Select
from skerry.plan.stages import Stages

__all__ = ["Selections"]


class Selections:
    """Views over one stream, each of which only selects."""

    def __init__(self, views: Sequence[Stages]) -> None:
        source = views[0].feeds[0].source
        index = QueryIndex(source.schema, evaluator)
        self._columns: dict[str, Columns] = {}
        for view in views:
            selection, projection = view.feeds[0].below
            assert isinstance(selection, Select)
            assert isinstance(projection, Project)
            tree = sqlglot.parse_one(selection.predicate.sql, read="duckdb")
            index.add(view.name, region_of(tree, source.schema, evaluator))
            self._columns[view.name] = projection.columns
        self._counted = Counted(index, VIEW, source)
        self._dealer = Dealer(self._counted, self._columns)

    def __contains__(self, view: str) -> bool:
        """Whether a view is one of them."""
        return view in self._columns

    def answers(self, batch: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """What each view that any reading answers has to say, and under ``COUNTS`` how often each was true."""
        return self._dealer.answers(batch) | {COUNTS: self._counted.counts}
