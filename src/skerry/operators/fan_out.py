"""Rows given to many views at once: each view wants some of them, and columns of its own."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Int32s, Int64s
from skerry.model.batch import join, pack, unpack
from skerry.model.expression import Columns, Expression
from skerry.operators.derive import Derive
from skerry.operators.operator import Operator
from skerry.plan.fan_out import FANNED_OUT

__all__ = ["FanOut", "Index", "ViewRows", "ViewSplitter", "unpack_views"]

_TOGETHER = 64
"""So many kinds of views have their columns computed at once: DuckDB takes about a millisecond to be asked at all."""


class Index(Protocol):
    """What finds the queries that are true for each row."""

    def match(self, batch: pa.RecordBatch) -> tuple[Int32s, Int32s]:
        """Rows, and the numbers of queries that are true for them; each pair once."""

    def names(self, queries: Int32s) -> pa.Array:
        """The names of queries, which are those of the views."""


class ViewRows(NamedTuple):
    """The rows of views with the same columns, one view's after the other's."""

    views: list[str]
    counts: Int64s
    rows: pa.RecordBatch

    def parts(self) -> Iterator[tuple[str, pa.RecordBatch]]:
        """Each view with its rows."""
        firsts = np.cumsum(self.counts) - self.counts
        for view, first, count in zip(self.views, firsts.tolist(), self.counts.tolist(), strict=True):
            yield view, self.rows.slice(first, count)


class _Kind(NamedTuple):
    """What views with the same columns want: for each column the one it is, or the number of an expression."""

    schema: pa.Schema
    parts: tuple[str | int, ...]


class _KindRows(NamedTuple):
    """What is to be dealt to views of one kind: the rows of each, one view's after the other's."""

    kind: _Kind
    views: list[str]
    counts: Int64s
    rows: Int32s


class ViewSplitter:
    """Gives each view the rows that its query is true for.

    A batch costs what the index costs, and something for each view that has rows in it. Views with the same
    columns are served together, and an expression is computed once for a row, however many views it goes to.
    """

    def __init__(self, index: Index, views: Mapping[str, Columns]) -> None:
        self._index = index
        self._expressions: dict[Expression, int] = {}
        kinds = {columns: self._kind(columns) for columns in dict.fromkeys(views.values())}
        positions = {columns: position for position, columns in enumerate(kinds)}
        self._kinds = list(kinds.values())
        self._kind_of = {view: positions[columns] for view, columns in views.items()}
        self._numbered = list(self._expressions)

    def split(self, batch: pa.RecordBatch) -> Iterator[ViewRows]:
        """What the views that any row answers have to say."""
        groups = list(self._group_rows(batch))
        for first in range(0, len(groups), _TOGETHER):
            yield from self._compute(batch, groups[first : first + _TOGETHER])

    def answers(self, batch: pa.RecordBatch) -> dict[str, pa.RecordBatch]:
        """The same by view."""
        return {view: rows for rows_of_kind in self.split(batch) for view, rows in rows_of_kind.parts()}

    def _kind(self, columns: Columns) -> _Kind:
        schema = pa.schema([pa.field(name, expression.type) for name, expression in columns])
        numbers = self._expressions
        return _Kind(schema, tuple(each.column or numbers.setdefault(each, len(numbers)) for _, each in columns))

    def _group_rows(self, batch: pa.RecordBatch) -> Iterator[_KindRows]:
        """The rows of each view that has any, in order, by kind."""
        rows, queries = self._index.match(batch)
        numbers, counts = np.unique(queries, return_counts=True)
        names = np.array(self._index.names(numbers).to_pylist(), object)
        kinds = np.array([self._kind_of[name] for name in names], np.int64)
        order = np.argsort(kinds, kind="stable")
        ranks = np.argsort(order)
        rows = rows[np.argsort(ranks[np.searchsorted(numbers, queries)], kind="stable")]
        names, kinds, counts = names[order], kinds[order], counts[order]
        bounds = np.concatenate([[0], np.cumsum(counts)])
        for kind in np.unique(kinds).tolist():
            first, end = np.searchsorted(kinds, [kind, kind + 1])
            chosen = rows[bounds[first] : bounds[end]]
            yield _KindRows(self._kinds[kind], names[first:end].tolist(), counts[first:end], chosen)

    def _compute(self, batch: pa.RecordBatch, groups: Sequence[_KindRows]) -> Iterator[ViewRows]:
        """Some kinds at once: what they need is computed in one piece, for the rows that any of them has."""
        needed = np.unique(np.concatenate([group.rows for group in groups]))
        taken = batch.take(pa.array(needed))
        wanted = sorted({part for group in groups for part in group.kind.parts if isinstance(part, int)})
        made = Derive([(str(part), self._numbered[part]) for part in wanted]).transition(taken) if wanted else taken
        for kind, views, counts, rows in groups:
            positions = pa.array(np.searchsorted(needed, rows))
            columns = [taken.column(part) if isinstance(part, str) else made.column(str(part)) for part in kind.parts]
            yield ViewRows(views, counts, pa.RecordBatch.from_arrays(columns, schema=kind.schema).take(positions))


class FanOut(Operator):
    """Gives the answers of many views as one batch, by ``FANNED_OUT``. Stateless."""

    schema = FANNED_OUT

    def __init__(self, splitter: ViewSplitter) -> None:
        self._splitter = splitter

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Give each row to the views that want it."""
        found = list(self._splitter.split(batch)) if batch.num_rows else []
        columns = [[rows_of_kind.views for rows_of_kind in found], [rows_of_kind.counts for rows_of_kind in found]]
        packed = [pack(rows_of_kind.rows) for rows_of_kind in found]
        return pa.RecordBatch.from_pydict(dict(zip(FANNED_OUT.names, [*columns, packed], strict=True)), FANNED_OUT)


def unpack_views(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The views that a batch by ``FANNED_OUT`` has answers of, each once, and these."""
    found: dict[str, list[pa.RecordBatch]] = {}
    for views, counts, rows in zip(*batch.columns, strict=True):
        rows_of_kind = ViewRows(views.as_py(), counts.values.to_numpy(), unpack(rows.as_buffer()))
        for view, part in rows_of_kind.parts():
            found.setdefault(view, []).append(part)
    return ((view, join(parts, parts[0].schema)) for view, parts in found.items())
