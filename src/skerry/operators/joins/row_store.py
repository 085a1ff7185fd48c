"""The columns of live tuples, addressed by number."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from skerry.errors import KernelError
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join, pack, unpack
from skerry.model.time import Micros
from skerry.operators.joins.recent_rows import RecentRows
from skerry.operators.operator import PageChanges, StatePages

__all__ = ["RowStore", "changes_of", "restore_all", "snapshot_of"]

_CLOCK = "clock"
_FAN = 8
"""So many chunks of about one size are merged; and the factor between two sizes."""
_SMALL = 32_768
"""How many rows Arrow may copy to take a few of them: it joins chunks before it takes from them."""
_SPARSE = 16
"""Among how many numbers one may be that of a row, for all of them to be looked up in a table."""
_NEVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class _Chunk:
    """Rows that came one after the other. ``numbers`` rise; each row is live until its end."""

    numbers: Int64s
    ends: Int64s
    batch: pa.RecordBatch

    @staticmethod
    def concatenate(chunks: Sequence["_Chunk"]) -> "_Chunk":
        """Chunks that follow on each other, as one."""
        numbers, ends = [chunk.numbers for chunk in chunks], [chunk.ends for chunk in chunks]
        return _Chunk(np.concatenate(numbers), np.concatenate(ends), pa.concat_batches([c.batch for c in chunks]))

    @property
    def size(self) -> int:
        return int(self.numbers.size)

    @cached_property
    def first_end(self) -> int:
        """Until when all of its rows are live."""
        return int(self.ends.min())

    @cached_property
    def last_end(self) -> int:
        """When none of its rows is live any more."""
        return int(self.ends.max())

    @cached_property
    def level(self) -> int:
        """Its size, by orders of magnitude."""
        return self.size.bit_length() // (_FAN.bit_length() - 1)

    def count_live(self, moment: int) -> int:
        """How many of its rows end at ``moment`` or later."""
        return self.size if self.first_end >= moment else int(np.count_nonzero(self.ends >= moment))

    def drop_ended(self, moment: int) -> "_Chunk":
        """Only the rows that end at ``moment`` or later."""
        alive = self.ends >= moment
        if alive.all():
            return self
        return _Chunk(self.numbers[alive], self.ends[alive], self.batch.filter(pa.array(alive)))


@dataclass(frozen=True)
class _Piece:
    """Chunks that follow on each other and are taken from together."""

    chunks: Sequence[_Chunk]

    @cached_property
    def first(self) -> int:
        """The number of its first row."""
        return int(self.chunks[0].numbers[0])

    @cached_property
    def _whole(self) -> _Chunk:
        return self.chunks[0] if len(self.chunks) == 1 else _Chunk.concatenate(self.chunks)

    def take(self, numbers: Int64s) -> pa.RecordBatch:
        """The rows of these numbers, all of which it holds."""
        return self._whole.batch.take(pa.array(self._positions(numbers)))

    def _positions(self, numbers: Int64s) -> Int64s:
        behind, held = numbers - self.first, self._whole.numbers
        if self._span == held.size:
            return behind
        return self._table[behind] if self._span <= _SPARSE * held.size else np.searchsorted(held, numbers)

    @cached_property
    def _span(self) -> int:
        return int(self._whole.numbers[-1]) - self.first + 1

    @cached_property
    def _table(self) -> Int64s:
        """By number, less the first: the position of the row."""
        table = np.zeros(self._span, np.int64)
        table[self._whole.numbers - self.first] = np.arange(self._whole.size)
        return table


class RowStore:
    """Keep rows until they end, and give any of them by number.

    Rows lie in chunks; chunks of about one size are merged when there are several, so that a row is
    copied, and saved, a few times at the most (its number is a logarithm of the rows held). A chunk
    is dropped when its last row has ended; rows that ended before are left out when it is merged or
    saved. A page is a chunk: the number and the end of each row, then its columns. Once rows are asked for,
    the newest are in a ring besides, from which they are taken if it has them all (``RecentRows``).

    >>> store = RowStore(pa.schema({"speed": pa.float64()}))
    >>> store.add(pa.record_batch({"speed": [20.0, 30.0]}), ends=np.array([5, 9]))
    0
    >>> store.take(np.array([1, 0, 1])).column("speed").to_pylist()
    [30.0, 20.0, 30.0]
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._page_schema = pa.schema([pa.field("row", pa.int64()), pa.field("end", pa.int64()), *schema])
        self._chunks: dict[int, _Chunk] = {}
        self._pieces: list[_Piece] = []
        self._taken_count = 0  # how many rows since chunks have changed
        self._recent: RecentRows | None = None
        self._saved: set[str] = set()
        self._next_chunk = 0
        self._moment = np.iinfo(np.int64).min
        self._first_end = _NEVER  # no chunk ends before
        self.next_row = 0

    @property
    def count(self) -> int:
        """How many rows are held; some may have ended."""
        return sum(chunk.size for chunk in self._chunks.values())

    @property
    def live_count(self) -> int:
        """How many rows are live: that does not depend on how rows lie in chunks, so it is the same once restored."""
        return sum(chunk.count_live(self._moment) for chunk in self._chunks.values())

    def add(self, batch: pa.RecordBatch, ends: Int64s, kept: Bools | None = None) -> int:
        """Number the rows of a batch from what is given back, and keep them, or some of them, until they end."""
        if batch.num_rows != ends.size:
            raise KernelError("rows and ends differ in length:", batch.num_rows, ends.size)
        first = self.next_row
        self.next_row += batch.num_rows
        numbers = np.arange(first, self.next_row, dtype=np.int64)
        if kept is not None and not kept.all():
            batch, ends, numbers = batch.filter(pa.array(kept)), ends[kept], numbers[kept]
        if numbers.size:
            if self._recent:
                self._recent.add(batch, numbers)
            self._append(_Chunk(numbers, ends, batch))
            if len(self._chunks) >= _FAN:
                self.forget(self._moment)
                self._merge()
        return first

    def take(self, rows: Int64s) -> pa.RecordBatch:
        """The rows of these numbers, in any order and as often as asked. Only rows that are held can be asked for."""
        if not rows.size:
            return empty(self._schema)
        if (recent := self._from_ring(rows)) is not None:
            return recent
        self._taken_count += rows.size
        pieces = self._gather_pieces()
        if len(pieces) == 1:
            return pieces[0].take(rows)
        where = np.searchsorted([piece.first for piece in pieces], rows, side="right") - 1
        order = np.argsort(where, kind="stable")
        taken = [pieces[index].take(rows[where == index]) for index in np.unique(where).tolist()]
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return join(taken, self._schema).take(pa.array(back))

    def live_rows(self) -> tuple[Int64s, pa.RecordBatch]:
        """All rows that are live, in order of their numbers: the numbers, and the columns."""
        chunks = [chunk.drop_ended(self._moment) for chunk in self._chunks.values()]
        numbers = [np.empty(0, np.int64), *(chunk.numbers for chunk in chunks)]
        return np.concatenate(numbers), join([chunk.batch for chunk in chunks], self._schema)

    def forget(self, moment: int) -> None:
        """Let go of the rows that end before ``moment``."""
        self._moment = max(self._moment, moment)
        if self._moment <= self._first_end:
            return
        gone = [number for number, chunk in self._chunks.items() if chunk.last_end < self._moment]
        for number in gone:
            del self._chunks[number]
        if gone:
            self._start_over()
        self._first_end = min((chunk.last_end for chunk in self._chunks.values()), default=_NEVER)

    def keep(self, rows: Int64s) -> None:
        """Let go of all rows but these, of which some may have ended. What is held then is one chunk."""
        if not self._chunks:
            return
        whole = _Chunk.concatenate(list(self._chunks.values()))
        positions = np.flatnonzero(np.isin(whole.numbers, rows, assume_unique=True))
        if positions.size == whole.size:
            return
        self._chunks = {}
        self._start_over()
        if positions.size:
            self._append(_Chunk(whole.numbers[positions], whole.ends[positions], whole.batch.take(pa.array(positions))))

    def changes(self) -> PageChanges:
        """The chunks that are new since the last call, and those that are merged or have ended."""
        self.forget(self._moment)
        fresh = [number for number in self._chunks if str(number) not in self._saved]
        gone = self._saved - {str(number) for number in self._chunks}
        self._saved = {str(number) for number in self._chunks}
        return PageChanges({str(number): self._pack(number) for number in fresh}, sorted(gone))

    def snapshot(self) -> StatePages:
        """All chunks."""
        self.forget(self._moment)
        return {str(number): self._pack(number) for number in self._chunks}

    def restore(self, pages: StatePages, next_row: int = 0) -> None:
        """Take chunks over. The next row has the number ``next_row``, or follows on the last."""
        self._chunks = {int(name): self._unpack(pages[name]) for name in sorted(pages, key=int)}
        self._start_over()
        self._first_end = min((chunk.last_end for chunk in self._chunks.values()), default=_NEVER)
        self._saved = set(pages)
        self._next_chunk = max(self._chunks, default=-1) + 1
        last = [int(chunk.numbers[-1]) for chunk in self._chunks.values()]
        self.next_row = max([next_row, *(number + 1 for number in last)])
        self._recent = None

    def _from_ring(self, rows: Int64s) -> pa.RecordBatch | None:
        """Rows as the ring has them, if need be after it has been filled anew."""
        if self._recent is None:
            self._recent = RecentRows(self._schema, self.next_row)
        elif (recent := self._recent.take(rows)) is not None:
            return recent
        chunks = [(chunk.numbers, chunk.batch) for chunk in self._chunks.values()]
        return self._recent.take(rows) if self._recent.start_over(int(rows.min()), chunks) else None

    def _append(self, chunk: _Chunk) -> None:
        self._chunks[self._next_chunk] = chunk
        self._first_end = min(self._first_end, chunk.last_end)
        self._next_chunk += 1
        self._start_over()

    def _merge(self) -> None:
        """Make one chunk of the newest ones, as long as there are several that are not larger than the very last."""
        while len(names := self._mergeable()) >= _FAN:
            chunks = [self._chunks.pop(name).drop_ended(self._moment) for name in names]
            self._append(_Chunk.concatenate(chunks))

    def _mergeable(self) -> list[int]:
        names: list[int] = []
        for name in reversed(self._chunks):
            if names and self._chunks[name].level > self._chunks[names[0]].level:
                break
            names.append(name)
        return names[::-1]

    def _gather_pieces(self) -> list[_Piece]:
        """The chunks, neighbours as one that are small together; all as one, once more was taken than they hold."""
        if not self._pieces or (len(self._pieces) > 1 and self._taken_count > self.count):
            groups: list[list[_Chunk]] = []
            for chunk in self._chunks.values():
                if groups and sum(each.size for each in groups[-1]) + chunk.size <= max(_SMALL, self._taken_count):
                    groups[-1].append(chunk)
                else:
                    groups.append([chunk])
            self._pieces = [_Piece(group) for group in groups]
        return self._pieces

    def _start_over(self) -> None:
        """Chunks have changed."""
        self._pieces, self._taken_count = [], 0

    def _pack(self, number: int) -> bytes:
        chunk = self._chunks[number].drop_ended(self._moment)
        columns = [pa.array(chunk.numbers), pa.array(chunk.ends), *chunk.batch.columns]
        return pack(pa.RecordBatch.from_arrays(columns, schema=self._page_schema))

    def _unpack(self, blob: bytes) -> _Chunk:
        page = unpack(blob)
        batch = pa.RecordBatch.from_arrays(page.columns[2:], schema=self._schema)
        return _Chunk(page.column(0).to_numpy(), page.column(1).to_numpy(), batch)


def changes_of(stores: Sequence[RowStore], watermark: Micros) -> PageChanges:
    """Those of several stores, each behind its number; and a clock, to go on from."""
    changes = [(number, store.changes()) for number, store in enumerate(stores)]
    put = {f"{number}/{name}": blob for number, each in changes for name, blob in each.put.items()}
    drop = [f"{number}/{name}" for number, each in changes for name in each.drop]
    return PageChanges({**put, _CLOCK: _clock(stores, watermark)}, drop)


def snapshot_of(stores: Sequence[RowStore], watermark: Micros) -> StatePages:
    """All chunks of several stores, and the clock."""
    pages = [(number, store.snapshot()) for number, store in enumerate(stores)]
    found = {f"{number}/{name}": blob for number, each in pages for name, blob in each.items()}
    return {**found, _CLOCK: _clock(stores, watermark)}


def restore_all(stores: Sequence[RowStore], pages: StatePages) -> Micros | None:
    """Give each store its chunks back; among the pages may be others. The watermark, or None if nothing was saved."""
    if _CLOCK not in pages:
        return None
    clock = json.loads(pages[_CLOCK])
    for number, (store, next_row) in enumerate(zip(stores, clock["next_rows"], strict=True)):
        own = f"{number}/"
        store.restore({name.removeprefix(own): pages[name] for name in pages if name.startswith(own)}, next_row)
    return Micros(clock["watermark"])


def _clock(stores: Sequence[RowStore], watermark: Micros) -> bytes:
    """The watermark, and the next row of each store."""
    return json.dumps({"watermark": watermark, "next_rows": [store.next_row for store in stores]}).encode()
