"""Lines of a text file as an Arrow array: found, told apart, and sifted before anything looks inside them."""

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skerry.model.arrays import Bools
from skerry.sources.file.letters import SHOWN_BYTES, byte_place, dead_letters, shown

__all__ = ["Lines", "sift", "too_long", "unpacked"]


_LINE_FEED, _CARRIAGE_RETURN = 10, 13


@dataclass(frozen=True)
class Lines:
    r"""Lines in stored order, each with its line end, and the byte of the file at which each starts.

    >>> lines = Lines.split("a.csv", b"x,1\r\n\ny,\xff\n")
    >>> lines.offsets.tolist(), lines.lengths().tolist()
    ([0, 5, 6], [4, 0, 3])
    >>> lines.blank().tolist(), lines.garbled().tolist()
    ([False, True, False], [False, False, True])
    """

    path: str
    text: "pa.Array[Any]"
    offsets: NDArray[np.int64]

    @classmethod
    def split(cls, path: str, data: bytes, begin: int = 0, end: int | None = None, offset: int = 0) -> "Lines":
        """Find the lines in whole lines from ``begin`` to ``end`` of bytes that stand at ``offset`` in a file."""
        feeds = np.flatnonzero(np.frombuffer(data, np.uint8)[begin:end] == _LINE_FEED)
        bounds = np.concatenate([[0], feeds + 1]).astype(np.int32) + np.int32(begin)
        buffers = [None, pa.py_buffer(bounds.data), pa.py_buffer(data)]
        return cls(path, pa.Array.from_buffers(pa.binary(), feeds.size, buffers), bounds[:-1] + np.int64(offset))

    def __len__(self) -> int:
        """How many lines there are."""
        return len(self.text)

    def only(self, kept: Bools) -> "Lines":
        """Keep the lines that are marked."""
        if kept.all():
            return self
        return Lines(self.path, self.text.filter(pa.array(kept)), self.offsets[kept])

    def since(self, offset: int) -> "Lines":
        """Keep the lines that start at a byte of the file or behind it, without a copy."""
        first = int(np.searchsorted(self.offsets, offset))
        return Lines(self.path, self.text[first:], self.offsets[first:])

    def without(self, marked: Bools, reasons: str | Sequence[str]) -> tuple["Lines", list[pa.RecordBatch]]:
        """Reject the lines that are marked, all for one reason or each for its own."""
        if not marked.any():
            return self, []
        return self.only(~marked), [self.only(marked).rejected(reasons)]

    def at(self, rows: NDArray[np.intp]) -> "Lines":
        """Take the lines at some places."""
        return Lines(self.path, self.text.take(rows), self.offsets[rows])

    def lengths(self) -> NDArray[np.int32]:
        """How many bytes stand before each line feed."""
        return np.diff(unpacked(self.text)[0]) - np.int32(1)

    def blank(self) -> Bools:
        """Mark the lines that have nothing but a line end."""
        bounds, data = unpacked(self.text)
        lengths = self.lengths()
        ones = np.flatnonzero(lengths == 1)
        lengths[ones] -= data[bounds[ones]] == _CARRIAGE_RETURN
        return np.equal(lengths, 0)

    def garbled(self) -> Bools:
        """Mark the lines that are not valid UTF-8."""
        marked, line = np.zeros(len(self), np.bool_), 0
        starts, data = unpacked(self.text)
        while line < len(self):
            try:
                codecs.utf_8_decode(data[starts[line] :].data, "strict", True)
                break
            except UnicodeDecodeError as wrong:
                line = int(np.searchsorted(starts, starts[line] + wrong.start, side="right"))
                marked[line - 1] = True
        return marked

    def rejected(self, reasons: str | Sequence[str]) -> pa.RecordBatch:
        """Make dead letters of these lines, all for one reason or each for its own."""
        heads: list[Any] = pc.binary_slice(self.text, 0, SHOWN_BYTES).to_pylist()
        places = [byte_place(self.path, offset) for offset in self.offsets.tolist()]
        return dead_letters(reasons, [shown(head) for head in heads], places)


def unpacked(text: "pa.Array[Any]") -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """See texts as their bytes, one behind the other, and where each starts in them; last of all, where they end.

    >>> bounds, data = unpacked(pa.array(["ab", "c"])[1:])
    >>> bounds.tolist(), bytes(data)
    ([0, 1], b'c')
    """
    _, places, data = text.buffers()
    if not len(text) or places is None or data is None:
        return np.zeros(len(text) + 1, np.int32), np.zeros(0, np.uint8)
    bounds = np.frombuffer(memoryview(places), np.int32)[text.offset : text.offset + len(text) + 1]
    return bounds - bounds[0], np.frombuffer(memoryview(data), np.uint8)[bounds[0] : bounds[-1]]


def sift(lines: Lines, longest: int) -> tuple[Lines, list[pa.RecordBatch]]:
    r"""Leave out blank lines, and reject those that are too long or not text.

    >>> kept, rejects = sift(Lines.split("a.csv", b"x,1\n\nyyyyyyyyy\n\xff\n"), longest=8)
    >>> len(kept), [letter for batch in rejects for letter in batch["reason"].to_pylist()]
    (1, ['line of 9 bytes, at most 8', 'not valid UTF-8'])
    """
    filled = lines.only(~lines.blank())
    overlong = filled.lengths() > longest
    short, long_letters = filled.without(overlong, [too_long(int(n), longest) for n in filled.lengths()[overlong]])
    kept, garbled_letters = short.without(short.garbled(), "not valid UTF-8")
    return kept, long_letters + garbled_letters


def too_long(length: int, longest: int) -> str:
    """Say why a line was not read.

    >>> too_long(10, 5)
    'line of 10 bytes, at most 5'
    """
    return f"line of {length} bytes, at most {longest}"
