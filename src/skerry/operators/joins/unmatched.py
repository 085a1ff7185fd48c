"""Rows of one side of a join that may still be without a partner."""

import numpy as np
import pyarrow as pa

from skerry.model.arrays import Bools
from skerry.model.time import Micros
from skerry.operators.joins.row_store import RowStore
from skerry.plan.side import Side

__all__ = ["ROW", "Unmatched"]

ROW = pa.field("#row", pa.int64())
"""The number of a row of the side, which goes through the join with it."""


class Unmatched:
    """Rows of one side until it is settled whether they have a partner.

    Each row goes through the join with a number, and combinations mark the numbers that they hold. A row is settled
    when the watermark has passed the last moment at which a partner may come. State is the rows that are not settled,
    and the numbers of those that have a partner.
    """

    def __init__(self, side: Side) -> None:
        self._side = side
        self._rows = RowStore(side.schema)
        self._matched = RowStore(pa.schema([ROW]))
        self._marks: Bools = np.zeros(0, np.bool_)
        """Whether each row has a partner, from ``_first_mark`` on."""
        self._first_mark = 0
        self.stores = [self._rows, self._matched]

    def add(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Take rows in; give them with their numbers."""
        number = self._rows.add(batch, self._side.last_moments(batch))
        self._marks = np.concatenate([self._marks, np.zeros(batch.num_rows, np.bool_)])
        numbers = pa.array(np.arange(number, number + batch.num_rows))
        return pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=batch.schema.append(ROW))

    def mark(self, found: pa.RecordBatch) -> pa.RecordBatch:
        """Note which rows have a partner, by the combinations that hold them; those that had none, with numbers."""
        rows, index = np.unique(found.column(self._side.column(ROW.name)).to_numpy(), return_index=True)
        fresh = ~self._marks[rows - self._first_mark]
        numbers, chosen = pa.array(rows[fresh]), found.take(pa.array(index[fresh]))
        own = [chosen.column(self._side.column(name)) for name in self._side.schema.names]
        if fresh.any():
            self._marks[rows[fresh] - self._first_mark] = True
            ends = self._side.last_moments(pa.RecordBatch.from_arrays(own, schema=self._side.schema))
            self._matched.add(pa.record_batch([numbers], schema=pa.schema([ROW])), ends)
        return pa.RecordBatch.from_arrays([*own, numbers], schema=self._side.schema.append(ROW))

    @property
    def next_row(self) -> int:
        """The number of the next row to come."""
        return self._rows.next_row

    def list_alone(self, first: int) -> pa.RecordBatch:
        """The rows from a number on that have no partner so far."""
        numbers, rows = self._rows.live_rows()
        since = numbers >= first
        since[since] &= ~self._marks[numbers[since] - self._first_mark]
        return rows.filter(pa.array(since))

    def settle(self, watermark: Micros) -> pa.RecordBatch:
        """The rows without a partner for which none can come any more; forget all that are settled."""
        numbers, rows = self._rows.live_rows()
        over = self._side.last_moments(rows) < watermark
        alone = rows.filter(pa.array(over & ~self._marks[numbers - self._first_mark]))
        self._forget(watermark)
        if numbers.size:
            self._drop_marks(int(numbers[~over][0]) if not over.all() else self._rows.next_row)
        return alone

    def resume(self, watermark: Micros) -> None:
        """Go on from stores that were restored."""
        self._forget(watermark)
        numbers, _ = self._rows.live_rows()
        self._first_mark = int(numbers[0]) if numbers.size else self._rows.next_row
        self._marks = np.zeros(self._rows.next_row - self._first_mark, np.bool_)
        matched = self._matched.live_rows()[1].column(0).to_numpy()
        self._marks[matched[matched >= self._first_mark] - self._first_mark] = True

    def _drop_marks(self, first: int) -> None:
        """Marks of rows before ``first`` are not asked for any more."""
        self._marks = self._marks[first - self._first_mark :]
        self._first_mark = first

    def _forget(self, watermark: Micros) -> None:
        for store in self.stores:
            store.forget(watermark)
