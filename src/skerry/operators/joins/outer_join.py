"""A join of two streams that also gives rows that have no partner (``LEFT JOIN``, ``FULL JOIN``)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from skerry.model.batch import empty, join
from skerry.model.expression import Expression, list_columns
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.derive import Derive
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.row_store import changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_outer_join import spread_outer_join
from skerry.operators.joins.saved_rows import select_pages
from skerry.operators.joins.unmatched import ROW, Unmatched
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["OuterJoin"]

_JOIN = "join/"
_ROWS = ("rows/", "rows of the second/")
"""What the pages of a kept side begin with."""


class OuterJoin(Operator):
    """Give every combination of the two sides, and each row of a kept side that is in none, with NULLs.

    Combinations are those of ``MultiJoin``, without those for which ``condition`` does not hold. They are given when
    their last member has come. A row of a kept side is settled when the watermark has passed the end of its window:
    no partner can come any more. If it was in no combination, it is given then. A key with a NULL or a NaN in it has no
    partner. The first side is kept; ``full`` keeps both.

    State is that of the join, the rows of kept sides that are not settled, and the numbers of those that have a
    partner. Costs what the join costs, and a look at all rows that are not settled when the watermark rises.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> sides = [Side("a", schema, ("k",), "ts", 5), Side("b", schema, ("k",), "ts", 5)]
    >>> left = OuterJoin(sides)
    >>> for stream, keys in enumerate([[1, 2], [2]]):
    ...     rows = pa.RecordBatch.from_pydict({"k": keys, "ts": [0] * len(keys)}, schema)
    ...     nothing = left.transition(rows, stream)
    >>> left.advance(Micros(5)).select(["a.k", "b.k"]).to_pylist()
    [{'a.k': 2, 'b.k': 2}]
    >>> left.advance(Micros(6)).select(["a.k", "b.k"]).to_pylist()
    [{'a.k': 1, 'b.k': None}]
    """

    def __init__(
        self,
        sides: Sequence[Side],
        condition: Expression | None = None,
        technique: str = "snjoin",
        limit: int = 10_000_000,
        *,
        full: bool = False,
    ) -> None:
        self._unmatched = [Unmatched(side) for side in (sides if full else sides[:1])]
        numbered = [replace(side, schema=side.schema.append(ROW)) for side in sides[: len(self._unmatched)]]
        self._join = MultiJoin([*numbered, *sides[len(numbered) :]], technique, limit)
        self._condition = Derive(list_columns(self._join.schema), condition) if condition else None
        self.schema = self._row_schema = pa.schema([field for side in sides for field in side.fields])
        self._widths = [len(side.schema) for side in sides]
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if batch.num_rows:
            kept = stream < len(self._unmatched)
            self._join.transition(self._unmatched[stream].add(batch) if kept else batch, stream)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Join what has come, and give the rows that are settled without a partner."""
        return join(list(self.pieces(watermark)), self.schema)

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """Combinations, a piece at a time, then rows without a partner."""
        for found in self.combine(watermark):
            for side in self._unmatched:
                side.mark(found)
            yield found.select(self.schema.names)
        if watermark > self._watermark:
            self._watermark = watermark
            for stream, side in enumerate(self._unmatched):
                yield self.put_beside_nulls(side.settle(watermark), stream)

    def combine(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """Combinations, a piece at a time, with the numbers of their members that are kept."""
        for piece in self._join.pieces(watermark):
            yield self._condition.transition(piece) if self._condition else piece

    def changes(self) -> PageChanges:
        """Those of the join, and of the rows that are not settled."""
        parts = [(_JOIN, self._join.changes())]
        parts += [(rows, changes_of(side.stores, self._watermark)) for rows, side in self._by_pages()]
        put: dict[str, bytes] = {}
        for prefix, part in parts:
            put |= _add_prefix(prefix, part.put)
        return PageChanges(put, [prefix + name for prefix, part in parts for name in part.drop])

    def snapshot(self) -> StatePages:
        """The state of the join, and the rows that are not settled."""
        pages = _add_prefix(_JOIN, self._join.snapshot())
        for rows, side in self._by_pages():
            pages |= _add_prefix(rows, snapshot_of(side.stores, self._watermark))
        return pages

    def restore(self, pages: StatePages) -> None:
        """Take both over."""
        self._join.restore(select_pages(pages, _JOIN))
        for rows, side in self._by_pages():
            watermark = restore_all(side.stores, select_pages(pages, rows))
            if watermark is not None:
                self._watermark = watermark
                side.resume(watermark)

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All rows by the bucket of their keys."""
        return spread_outer_join(states, spread, _JOIN, _ROWS[: len(self._unmatched)])

    def _by_pages(self) -> Iterator[tuple[str, Unmatched]]:
        return zip(_ROWS, self._unmatched, strict=False)

    def put_beside_nulls(self, alone: pa.RecordBatch, stream: int) -> pa.RecordBatch:
        """Rows of one side, with NULLs in the columns of the other."""
        first, fields = self._widths[0], list(self._row_schema)
        missing = fields[first:] if stream == 0 else fields[:first]
        nulls = [pa.nulls(alone.num_rows, field.type) for field in missing]
        columns = [*alone.columns, *nulls] if stream == 0 else [*nulls, *alone.columns]
        return pa.RecordBatch.from_arrays(columns, schema=self._row_schema)


def _add_prefix(prefix: str, pages: Mapping[str, bytes]) -> dict[str, bytes]:
    return {prefix + name: blob for name, blob in pages.items()}
