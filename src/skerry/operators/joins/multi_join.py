"""The complete join of any number of streams."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from skerry.kernels.joins.lifetimes import WindowSizes, find_lifetimes
from skerry.kernels.time_order import order_by_time
from skerry.model.arrays import Bools, Int64s
from skerry.model.arrival import ARRIVAL, LANE
from skerry.model.batch import join, pack, unpack
from skerry.model.time import END_OF_TIME, LAST_MOMENT, START_OF_TIME, Micros
from skerry.operators.joins.arrivals import Arrivals
from skerry.operators.joins.combiner import Combiner
from skerry.operators.joins.keys import key_codes
from skerry.operators.joins.make_technique import make_technique
from skerry.operators.joins.row_store import RowStore, changes_of, restore_all, snapshot_of
from skerry.operators.joins.saved_rows import spread_stores
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread
from skerry.plan.side import Side

__all__ = ["MultiJoin"]

_Part = tuple[int, pa.RecordBatch]
"""Rows of one stream."""

_WAITING = "waiting"
_PIECE = 2**20
"""How many combinations are made answers at a time: fewer would be slower, for each piece costs some milliseconds."""


class MultiJoin(Operator):
    """Give every combination of tuples, one per side, that share a key and a moment at which all are live.

    Rows of a step wait for its end and are joined in order of event time, so that lists stay in order
    by appending. If a side counts rows, they are joined in the order of their arrival stamps, or without
    those as they came. A row with a NULL or a NaN in its key joins nothing and is not kept, except to be
    counted. A tuple is forgotten when the watermark has passed its end. Keys that are found by hash are
    compared again, in full, before an answer is given.

    State is the live rows, a log of chunks per side (``RowStore``), and the batches that wait; the
    technique is built anew from the rows.
    """

    def __init__(self, sides: Sequence[Side], technique: str = "snjoin", limit: int = 10_000_000) -> None:
        self._sides = tuple(sides)
        self._combiner = Combiner(self._sides)
        self.schema, self._nothing = self._combiner.schema, self._combiner.nothing
        self._counts = np.array([side.count for side in self._sides], np.int64)
        spans = np.array([min(side.span_us or 0, END_OF_TIME) for side in self._sides], np.int64)
        self._windows = WindowSizes(spans, self._counts, START_OF_TIME, LAST_MOMENT)
        self._has_stamps = all(ARRIVAL in side.schema.names for side in self._sides)
        self._technique = make_technique(technique, [side.count for side in self._sides], limit)
        self._stores = [RowStore(side.schema) for side in self._sides]
        self._waiting: list[_Part] = []
        self._saved_waiting: list[str] = []
        self._watermark: Micros = START_OF_TIME

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take rows of one side in."""
        if batch.num_rows:
            self._waiting.append((stream, batch))
        return self._nothing

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Join what has come, and forget what ends before ``watermark``."""
        return join(list(self.pieces(watermark)), self.schema)

    def pieces(self, watermark: Micros) -> Iterator[pa.RecordBatch]:
        """Join what has come, and forget; the columns of all combinations at once may be more than memory holds."""
        if self._waiting:
            parts, self._waiting = self._parts(), []
            found = self._technique.arrive(self._store_rows(parts))
            for first in range(0, len(found), _PIECE):
                yield self._combine(found[first : first + _PIECE])
        self._watermark = max(self._watermark, watermark)
        self._forget()

    def changes(self) -> PageChanges:
        """The new chunks of all sides, and those no longer needed."""
        waiting = self._waiting_pages()
        gone = [name for name in self._saved_waiting if name not in waiting]
        self._saved_waiting = list(waiting)
        rows = changes_of(self._stores, self._watermark)
        return PageChanges({**rows.put, **waiting}, [*gone, *rows.drop])

    def snapshot(self) -> StatePages:
        """The chunks of all sides."""
        return {**snapshot_of(self._stores, self._watermark), **self._waiting_pages()}

    def restore(self, pages: StatePages) -> None:
        """Take chunks over, and build the technique from them."""
        watermark = restore_all(self._stores, pages)
        if watermark is None:
            return
        self._watermark = watermark
        live = [store.live_rows() for store in self._stores]
        parts = [(stream, batch) for stream, (_, batch) in enumerate(live)]
        arrivals, kept = self._arrivals(parts, [rows for rows, _ in live])
        self._technique.load(arrivals.at(self._order(arrivals, kept, parts)))
        self._forget()
        self._saved_waiting = sorted(name for name in pages if name.startswith(_WAITING))
        self._waiting = [(int(name.split("/")[2]), unpack(pages[name])) for name in self._saved_waiting]

    def redistribute(self, states: Sequence[StatePages], spread: Spread) -> Sequence[StatePages] | None:
        """All rows by the bucket of their keys. Rows that are counted are in one bucket, and stay there."""
        if self._counts.any() or any(name.startswith(_WAITING) for state in states for name in state):
            return None
        return spread_stores(states, spread)

    def _parts(self) -> Sequence[_Part]:
        """What waits: one batch per side, or if rows are counted and not stamped, batch by batch as they came."""
        if self._counts.any() and not self._has_stamps:
            return self._waiting
        sides = [[batch for of, batch in self._waiting if of == stream] for stream in range(len(self._sides))]
        parts = [(stream, join(batches, batches[0].schema)) for stream, batches in enumerate(sides) if batches]
        return [(stream, _by_arrival(batch)) for stream, batch in parts] if self._counts.any() else parts

    def _store_rows(self, parts: Sequence[_Part]) -> Arrivals:
        """Store rows. Give those that may join in the order in which they are to be joined."""
        rows = self._number_rows(parts)
        arrivals, kept = self._arrivals(parts, rows)
        behind = 0
        for (stream, batch), numbers in zip(parts, rows, strict=True):
            here = slice(behind, behind := behind + batch.num_rows)
            count = self._sides[stream].count
            self._stores[stream].add(batch, numbers + count - 1 if count else arrivals.ends[here], kept[here])
        return arrivals.at(self._order(arrivals, kept, parts))

    def _number_rows(self, parts: Sequence[_Part]) -> list[Int64s]:
        """The numbers that the rows of each part get."""
        next_rows, rows = [store.next_row for store in self._stores], []
        for stream, batch in parts:
            rows.append(np.arange(next_rows[stream], next_rows[stream] + batch.num_rows))
            next_rows[stream] += batch.num_rows
        return rows

    def _arrivals(self, parts: Sequence[_Part], rows: Sequence[Int64s]) -> tuple[Arrivals, Bools]:
        """Rows as a technique sees them, one part behind the other, and which of them are to be kept."""
        codes = [key_codes([batch.column(key) for key in self._sides[of].keys], batch.num_rows) for of, batch in parts]
        keys, joinable = (np.concatenate(each) for each in zip(*codes, strict=True))
        moments = np.concatenate([batch.column(self._sides[of].time).to_numpy() for of, batch in parts]).view(np.int64)
        sizes = np.array([(of, batch.num_rows) for of, batch in parts], np.int64)
        streams, starts, ends, kept = find_lifetimes(moments, joinable, sizes, self._windows, self._watermark)
        return Arrivals(streams, keys, starts, ends, np.concatenate(rows)), kept

    def _order(self, arrivals: Arrivals, kept: Bools, parts: Sequence[_Part]) -> Int64s:
        """The indices of what is kept, in the order in which it is to be joined."""
        order = order_by_time(self._stamps(arrivals, parts), np.array([batch.num_rows for _, batch in parts]))
        return order if kept.all() else order[kept[order]]

    def _stamps(self, arrivals: Arrivals, parts: Sequence[_Part]) -> Int64s:
        """What puts rows into order: their times, or where rows are counted, when they arrived, if that is known."""
        if not self._counts.any():
            return arrivals.starts
        if not self._has_stamps:
            return np.zeros(arrivals.count, np.int64)
        return np.concatenate([batch.column(ARRIVAL).to_numpy() for _, batch in parts])

    def _combine(self, found: Int64s) -> pa.RecordBatch:
        """The answers that rows of all sides make."""
        return self._combiner.combine([store.take(found[:, stream]) for stream, store in enumerate(self._stores)])

    def _forget(self) -> None:
        self._technique.sweep(self._watermark)
        for side, store in zip(self._sides, self._stores, strict=True):
            counted = side.count and self._watermark < END_OF_TIME
            store.forget(store.next_row - 1 if counted else self._watermark)

    def _waiting_pages(self) -> dict[str, bytes]:
        return {f"{_WAITING}/{n:06}/{stream}": pack(batch) for n, (stream, batch) in enumerate(self._waiting)}


def _by_arrival(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows of one side in the order of their stamps."""
    return batch.take(pa.array(np.lexsort((batch.column(LANE).to_numpy(), batch.column(ARRIVAL).to_numpy()))))
