"""A join of two streams that also gives the rows of the first that have no partner (``LEFT JOIN``)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools
from skerry.model.batch import empty, join
from skerry.model.expression import Expression, list_columns
from skerry.model.time import START_OF_TIME, Micros
from skerry.operators.derive import Derive
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_left_join import spread_left_join
from skerry.operators.joins.saved_rows import select_pages
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["LeftJoin"]

_ROW = pa.field("#row", pa.int64())
"""The number of a row of the first side, which goes through the join with it."""
_JOIN, _ROWS = "join/", "rows/"


class LeftJoin(Operator):
    """Give every combination of the two sides, and each row of the first side that is in none, with NULLs.

    Combinations are those of ``MultiJoin``, without those for which ``condition`` does not hold. They are given when
    their last member has come. A row of the first side is settled when the watermark has passed the end of its window:
    no partner can come any more. If it was in no combination, it is given then. A key with a NULL or a NaN in it has no
    partner.

    State is that of the join, the rows of the first side that are not settled, and the numbers of those that have a
    partner. Costs what the join costs, and a look at all rows that are not settled when the watermark rises.

    >>> schema = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})
    >>> sides = [Side("a", schema, ("k",), "ts", 5), Side("b", schema, ("k",), "ts", 5)]
    >>> left = LeftJoin(sides)
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
    ) -> None:
        self._first, second = sides
        numbered = replace(self._first, schema=self._first.schema.append(_ROW))
        self._join = MultiJoin([numbered, second], technique, limit)
        self._condition = Derive(list_columns(self._join.schema), condition) if condition else None
        self.schema = pa.schema([field for field in self._join.schema if field.name != self._row_column])
        self._unsettled = RowStore(self._first.schema)
        self._matched = RowStore(pa.schema([_ROW]))
        self._marks: Bools = np.zeros(0, np.bool_)
        """Whether each row has a partner, from ``_first_mark`` on."""
        self._first_mark = 0
        self._watermark: Micros = START_OF_TIME

    @property
    def _row_column(self) -> str:
        return f"{self._first.name}.{_ROW.name}"

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if stream == 0 and batch.num_rows:
            _, ends = self._first.moments(batch)
            number = self._unsettled.add(batch, ends)
            numbers = pa.array(np.arange(number, number + batch.num_rows))
            batch = pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=batch.schema.append(_ROW))
            self._marks = np.concatenate([self._marks, np.zeros(batch.num_rows, np.bool_)])
        self._join.transition(batch, stream)
        return empty(self.schema)

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Join what has come, and give the rows that are settled without a partner."""
        return join(list(self.pieces(watermark)), self.schema)

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """Combinations, a piece at a time, then rows without a partner."""
        for piece in self._join.pieces(watermark):
            found = self._condition.transition(piece) if self._condition else piece
            self._mark(found)
            yield found.select(self.schema.names)
        if watermark > self._watermark:
            self._watermark = watermark
            yield self._settle()

    def changes(self) -> PageChanges:
        """Those of the join, and of the rows that are not settled."""
        join_changes, rows = self._join.changes(), changes_of(self._stores, self._watermark)
        put = _add_prefix(_JOIN, join_changes.put) | _add_prefix(_ROWS, rows.put)
        drop = [*(_JOIN + name for name in join_changes.drop), *(_ROWS + name for name in rows.drop)]
        return PageChanges(put, drop)

    def snapshot(self) -> StatePages:
        """The state of the join, and the rows that are not settled."""
        rows = snapshot_of(self._stores, self._watermark)
        return _add_prefix(_JOIN, self._join.snapshot()) | _add_prefix(_ROWS, rows)

    def restore(self, pages: StatePages) -> None:
        """Take both over."""
        self._join.restore(select_pages(pages, _JOIN))
        watermark = restore_all(self._stores, select_pages(pages, _ROWS))
        if watermark is None:
            return
        self._watermark = watermark
        self._forget()
        numbers, _ = self._unsettled.live_rows()
        self._first_mark = int(numbers[0]) if numbers.size else self._unsettled.next_row
        self._marks = np.zeros(self._unsettled.next_row - self._first_mark, np.bool_)
        matched = self._matched.live_rows()[1].column(0).to_numpy()
        self._marks[matched[matched >= self._first_mark] - self._first_mark] = True

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages]:
        """All rows by the bucket of their keys."""
        return spread_left_join(states, spread, _JOIN, _ROWS)

    @property
    def _stores(self) -> list[RowStore]:
        return [self._unsettled, self._matched]

    def _mark(self, found: pa.RecordBatch) -> None:
        """Note which rows of the first side have a partner, each once."""
        rows, index = np.unique(found.column(self._row_column).to_numpy(), return_index=True)
        fresh = ~self._marks[rows - self._first_mark]
        if fresh.any():
            self._marks[rows[fresh] - self._first_mark] = True
            times = found.column(f"{self._first.name}.{self._first.time}").take(pa.array(index[fresh]))
            _, ends = self._first.moments(pa.record_batch({self._first.time: times}))
            self._matched.add(pa.record_batch([pa.array(rows[fresh])], schema=pa.schema([_ROW])), ends)

    def _settle(self) -> pa.RecordBatch:
        """The rows without a partner whose window is over; forget all whose window is."""
        numbers, rows = self._unsettled.live_rows()
        if not numbers.size:
            return empty(self.schema)
        _, ends = self._first.moments(rows)
        over = ends < self._watermark
        alone = rows.filter(pa.array(over & ~self._marks[numbers - self._first_mark]))
        self._forget()
        self._drop_marks(int(numbers[~over][0]) if not over.all() else self._unsettled.next_row)
        nulls = [pa.nulls(alone.num_rows, field.type) for field in list(self.schema)[alone.num_columns :]]
        return pa.RecordBatch.from_arrays([*alone.columns, *nulls], schema=self.schema)

    def _drop_marks(self, first: int) -> None:
        """Marks of rows before ``first`` are not asked for any more."""
        self._marks = self._marks[first - self._first_mark :]
        self._first_mark = first

    def _forget(self) -> None:
        for store in self._stores:
            store.forget(self._watermark)


def _add_prefix(prefix: str, pages: Mapping[str, bytes]) -> dict[str, bytes]:
    return {prefix + name: blob for name, blob in pages.items()}
