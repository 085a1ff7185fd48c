"""The newest rows of a stream side by side in memory, so that a few of them are taken at little cost."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skerry.operators.joins.technique import Int64s

__all__ = ["RecentRows"]

_WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_FEWEST, _MOST = 2**10, 2**20


class RecentRows:
    """A ring of the last rows: the row of number n lies at n modulo its size.

    Arrow takes from several chunks by joining them first; from here it copies what is asked for and no
    more. Only columns of whole words fit in, and only rows without NULL: if others come, it starts
    anew behind them. It grows, and starts anew, when a row is asked for that has been written over.

    >>> recent = RecentRows(pa.schema({"speed": pa.float64()}), next_row=7)
    >>> recent.add(pa.record_batch({"speed": [20.0, 30.0]}), first=7)
    >>> recent.take(np.array([8, 7])).column("speed").to_pylist()
    [30.0, 20.0]
    >>> recent.take(np.array([6])) is None
    True
    """

    def __init__(self, schema: pa.Schema, next_row: int = 0) -> None:
        self._schema = schema
        self._fits = all(_is_word(field.type) for field in schema)
        self._first = self._next = next_row
        self._make_room(_FEWEST)

    def add(self, batch: pa.RecordBatch, first: int) -> None:
        """Take rows in, numbered from ``first`` on."""
        if self._size < batch.num_rows <= _MOST:
            self._make_room(1 << batch.num_rows.bit_length())
        columns = batch.columns
        fits = self._fits and batch.num_rows <= self._size and not any(column.null_count for column in columns)
        if fits:
            for words, column in zip(self._words, columns, strict=True):
                _write(words, first % self._size, column.to_numpy().view(words.dtype))
        self._next = first + batch.num_rows
        if not fits:
            self._first = self._next

    def take(self, rows: Int64s) -> pa.RecordBatch | None:
        """The rows of these numbers, in any order and as often as asked, or None if it has not all of them."""
        oldest = int(rows.min())
        if self._first <= oldest < self._next - self._size and self._size < _MOST:
            self._make_room(2 * self._size)
        if oldest < max(self._first, self._next - self._size):
            return None
        return self._batch.take(pa.array(rows & (self._size - 1)))

    def _make_room(self, size: int) -> None:
        self._size, self._first = size, self._next
        types = [field.type for field in self._schema] if self._fits else []
        self._words = [np.empty(size, _WORDS[type_.bit_width]) for type_ in types]
        views = [_viewed(words, type_) for words, type_ in zip(self._words, types, strict=True)]
        self._batch = pa.RecordBatch.from_arrays(views, schema=self._schema if self._fits else pa.schema([]))


def _is_word(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_timestamp(type_)


def _viewed(words: npt.NDArray[np.unsignedinteger], type_: pa.DataType) -> pa.Array:
    """Memory as values of a type, without a copy: what is written to it later shows."""
    return pa.Array.from_buffers(type_, words.size, [None, pa.py_buffer(words)])


def _write(ring: npt.NDArray[np.unsignedinteger], place: int, words: npt.NDArray[np.unsignedinteger]) -> None:
    """Write words from a place on, and what does not fit there at the start."""
    before = min(ring.size - place, words.size)
    ring[place : place + before] = words[:before]
    if before < words.size:
        ring[: words.size - before] = words[before:]
