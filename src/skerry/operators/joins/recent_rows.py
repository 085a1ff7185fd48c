"""The newest rows of a stream side by side in memory, so that a few of them are taken at little cost."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skerry.model.arrays import Int64s

__all__ = ["RecentRows"]

_Words = npt.NDArray[np.unsignedinteger]

_WORDS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_FEWEST, _MOST = 2**10, 2**20


class RecentRows:
    """A ring of the last rows: the row of number n lies at n modulo its size.

    Arrow takes from several chunks by joining them first; from here what is asked for is copied, and no
    more. Only columns of whole words fit in, and only rows without NULL: if others come, it starts
    anew behind them. When rows are asked for that it has not, it may ``start_over`` with them.

    >>> recent = RecentRows(pa.schema({"speed": pa.float64()}), next_row=7)
    >>> recent.add(pa.record_batch({"speed": [20.0, 30.0]}), np.array([7, 8]))
    >>> recent.take(np.array([8, 7])).column("speed").to_pylist()
    [30.0, 20.0]
    >>> recent.take(np.array([6])) is None
    True
    """

    def __init__(self, schema: pa.Schema, next_row: int = 0) -> None:
        self._schema = schema
        self._fits = all(_is_word(field.type) for field in schema)
        self._types = [field.type for field in schema] if self._fits else []
        self._first = self._next = next_row
        self._make_room(_FEWEST)

    def add(self, batch: pa.RecordBatch, numbers: Int64s) -> None:
        """Take rows in, at least one. Their numbers rise, and follow on those before."""
        first, span = int(numbers[0]), int(numbers[-1] - numbers[0]) + 1
        if self._size < span <= _MOST:
            self._make_room(1 << span.bit_length())
        self._next, columns = first + span, batch.columns
        if not self._fits or span > self._size or _has_null(columns):
            self._first = self._next
        elif span == batch.num_rows:
            for words, column in zip(self._words, columns, strict=True):
                _write(words, first & (self._size - 1), _as_words(column, words))
        else:
            self._scatter(batch, numbers)

    def take(self, rows: Int64s) -> pa.RecordBatch | None:
        """The rows of these numbers, in any order and as often as asked, or None if it has not all of them."""
        if not self._fits or rows.min() < max(self._first, self._next - self._size):
            return None
        slots = rows & (self._size - 1)  # in range: to clip is faster than to check
        columns = [words.take(slots, mode="clip") for words in self._words]
        return pa.RecordBatch.from_arrays(list(map(_view, columns, self._types)), schema=self._schema)

    def start_over(self, oldest: int, held: Iterable[tuple[Int64s, pa.RecordBatch]]) -> bool:
        """Make room from the row ``oldest`` on, and write what is held of it: numbers that rise, and rows.

        For what is asked for once, its like will be again. False if these rows do not fit in.
        """
        size = 1 << (self._next - oldest).bit_length()
        wanted = [(numbers, batch) for numbers, batch in held if numbers[-1] >= oldest]
        if not self._fits or size > _MOST or any(_has_null(batch.columns) for _, batch in wanted):
            return False
        self._make_room(max(size, self._size))
        self._first = oldest
        for numbers, batch in wanted:
            since = int(np.searchsorted(numbers, oldest))
            self._scatter(batch.slice(since), numbers[since:])
        return True

    def _scatter(self, batch: pa.RecordBatch, numbers: Int64s) -> None:
        slots = numbers & (self._size - 1)
        for words, column in zip(self._words, batch.columns, strict=True):
            words[slots] = _as_words(column, words)

    def _make_room(self, size: int) -> None:
        self._size, self._first = size, self._next
        self._words = [np.empty(size, _WORDS[type_.bit_width]) for type_ in self._types]


def _is_word(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_timestamp(type_)


def _has_null(columns: Iterable[pa.Array]) -> bool:
    return any(column.null_count for column in columns)


def _as_words(column: pa.Array, words: _Words) -> _Words:
    """The memory of a column as words of the same width."""
    return column.to_numpy().view(words.dtype)


def _view(words: _Words, type_: pa.DataType) -> pa.Array:
    """Words as values of a type, without a copy."""
    return pa.Array.from_buffers(type_, words.size, [None, pa.py_buffer(words)])


def _write(ring: _Words, slot: int, words: _Words) -> None:
    """Write words from a slot on; what does not fit before the end of the ring goes to its start."""
    before = min(ring.size - slot, words.size)
    ring[slot : slot + before] = words[:before]
    if before < words.size:
        ring[: words.size - before] = words[before:]
