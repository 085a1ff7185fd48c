"""Views that only select: where a stream has many, the query index finds the readings of all of them at once."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import sqlglot

from skerry.index.index import QueryIndex
from skerry.index.reading import region_of
from skerry.operators.derive import Derive, evaluator
from skerry.plan.nodes import Project, Select
from skerry.plan.stages import Stages

__all__ = ["Selections"]


class Selections:
    """Views over one stream, each of which only selects."""

    def __init__(self, views: Sequence[Stages]) -> None:
        schema = views[0].feeds[0].source.schema
        self._index = QueryIndex(schema, evaluator)
        self._projections: dict[str, Derive] = {}
        for view in views:
            selection, projection = view.feeds[0].below
            assert isinstance(selection, Select)
            assert isinstance(projection, Project)
            tree = sqlglot.parse_one(selection.predicate.sql, read="duckdb")
            self._index.add(view.name, region_of(tree, schema, evaluator))
            self._projections[view.name] = Derive(projection.columns)

    def __contains__(self, view: str) -> bool:
        """Whether a view is one of them."""
        return view in self._projections

    def answers(self, batch: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """What each view that any reading answers has to say."""
        rows, queries = self._index.match(batch)
        order = np.argsort(queries, kind="stable")
        numbers, firsts = np.unique(queries[order], return_index=True)
        parts = np.split(rows[order], firsts[1:])
        names = self._index.names(numbers).to_pylist()
        chosen = {name: batch.take(pa.array(part)) for name, part in zip(names, parts, strict=False)}
        return {name: self._projections[name].transition(readings) for name, readings in chosen.items()}
