"""A join of two streams that gives rows without a partner at once, and takes them back when a partner comes."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from skerry.model.batch import empty
from skerry.model.changes import OP_FIELD, with_op
from skerry.model.expression import Expression
from skerry.model.time import Micros
from skerry.operators.joins.outer_join import OuterJoin
from skerry.operators.joins.unmatched import ROW
from skerry.operators.operator import PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["RevisedOuterJoin"]

_GIVEN = "given"


class RevisedOuterJoin(OuterJoin):
    """Give every combination, and each row of a kept side that has no partner yet; take it back when one comes.

    A row that finds its partner in the step in which it comes is not given alone. When the window of a row is over, the
    watermark has passed it and nothing more becomes of it. State and costs are those of ``OuterJoin``.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> left = RevisedOuterJoin([Side("a", schema, ("k",), "ts", 5), Side("b", schema, ("k",), "ts", 5)])
    >>> for stream in (0, 1):
    ...     _ = left.transition(pa.RecordBatch.from_pydict({"k": [2], "ts": [0]}, schema), stream)
    ...     left.advance(Micros(0)).select(["_op", "a.k", "b.k"]).to_pylist()
    [{'_op': '+', 'a.k': 2, 'b.k': None}]
    [{'_op': '-', 'a.k': 2, 'b.k': None}, {'_op': '+', 'a.k': 2, 'b.k': 2}]
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
        super().__init__(sides, condition, technique, limit, full=full)
        self.schema = pa.schema([OP_FIELD, *self._row_schema])
        self._given = [0] * len(self._unmatched)
        """By kept side, the number of its first row that is not given yet."""

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        super().transition(batch, stream)
        return empty(self.schema)

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """What is taken back and combinations, a piece at a time; then rows that came without a partner."""
        for found in self.combine(watermark):
            for stream, side in enumerate(self._unmatched):
                matched = side.mark(found)
                before = pa.array(matched.column(ROW.name).to_numpy() < self._given[stream])
                alone = matched.filter(before).select(matched.schema.names[:-1])
                yield self._sign(self.put_beside_nulls(alone, stream), is_minus=True)
            yield self._sign(found.select(self._row_schema.names), is_minus=False)
        for stream, side in enumerate(self._unmatched):
            alone = side.list_alone(self._given[stream])
            self._given[stream] = side.next_row
            yield self._sign(self.put_beside_nulls(alone, stream), is_minus=False)
            if watermark > self._watermark:
                side.settle(watermark)
        self._watermark = max(self._watermark, watermark)

    def changes(self) -> PageChanges:
        """Those of the outer join, and how far rows are given."""
        found = super().changes()
        return PageChanges({**found.put, **self._given_pages()}, found.drop)

    def snapshot(self) -> StatePages:
        """The state of the outer join."""
        return {**super().snapshot(), **self._given_pages()}

    def restore(self, pages: StatePages) -> None:
        """Take it over; where nothing says how far rows are given, all are."""
        super().restore({name: blob for name, blob in pages.items() if name != _GIVEN})
        given = pages.get(_GIVEN)
        self._given = json.loads(given) if given else [side.next_row for side in self._unmatched]

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All rows by the bucket of their keys. A step is over when it is saved: all rows are given."""
        return super().redistribute(
            [{name: blob for name, blob in state.items() if name != _GIVEN} for state in states], spread
        )

    def _given_pages(self) -> dict[str, bytes]:
        return {_GIVEN: json.dumps(self._given).encode()}

    def _sign(self, rows: pa.RecordBatch, *, is_minus: bool) -> pa.RecordBatch:
        return with_op(rows, np.full(rows.num_rows, is_minus))
