r"""A text file as a lane: byte blocks as units, the lines in them, and the way from bytes to readings.

A block owns the lines that start in it, and reads the last of them to its end, beyond the block. So
every line is read once, whatever the size of the blocks, and no block needs to know another.

    a a a \n b b b \n c c c c \n d \n
    |--- block 0 ---|--- block 1 ---|            block 0: aaa, bbb, cccc    block 1: d

Lines stay an Arrow array from the file to the format's parser. Those that are blank, too long or not text are sifted
out before a format looks inside them. For planning, a block's times are read off its first and last lines alone.
"""

import codecs
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skerry.catalog import Source
from skerry.model.arrays import Bools, Int64s
from skerry.model.batch import empty, join
from skerry.model.time import START_OF_TIME, Micros
from skerry.sources.dead_letters import SHOWN_BYTES, byte_location, make_dead_letters, show_line
from skerry.sources.epoch_times import count_since_1970
from skerry.sources.file.conform import Rows, conform, unpack_texts
from skerry.sources.file.generated import conform_source
from skerry.sources.file.lane import MANY_ROWS, FileLane, StoredFile, Unit, report_read_errors
from skerry.sources.file.moments import read_moments
from skerry.sources.file.options import FileOptions
from skerry.sources.file.unpack import open_text
from skerry.sources.source import REJECTS

__all__ = ["Block", "Lines", "Parsed", "TextLane", "read_block", "read_raw_block"]

_LINE_FEED, _CARRIAGE_RETURN = 10, 13
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_AHEAD_BYTES = 1 << 16
"""The last line of a block mostly ends within this, and is then read in one go with the block."""

_PIECE_BYTES = 1 << 20

_PEEK_BYTES = 1 << 14
_PEEK_LINES = 8


@dataclass(frozen=True)
class Lines:
    r"""Lines in stored order, each with its line end, and the byte of the file at which each starts.

    >>> lines = Lines.split("a.csv", b"x,1\r\n\ny,\xff\n")
    >>> lines.offsets.tolist(), lines.lengths().tolist()
    ([0, 5, 6], [4, 0, 3])
    >>> lines.mark_blank().tolist(), lines.mark_garbled().tolist()
    ([False, True, False], [False, False, True])
    """

    path: str
    text: "pa.Array[Any]"
    offsets: NDArray[np.int64]
    is_joined: bool = False
    """Whether some are several lines of the file."""

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

    def keep(self, kept: Bools) -> "Lines":
        """Keep the lines that are marked."""
        if kept.all():
            return self
        return Lines(self.path, self.text.filter(pa.array(kept)), self.offsets[kept], self.is_joined)

    def skip_to(self, offset: int) -> "Lines":
        """Keep the lines that start at a byte of the file or behind it, without a copy."""
        first = int(np.searchsorted(self.offsets, offset))
        return Lines(self.path, self.text[first:], self.offsets[first:], self.is_joined)

    def stop_at(self, offset: int) -> "Lines":
        """Keep the lines that start before a byte of the file, without a copy."""
        last = int(np.searchsorted(self.offsets, offset))
        return Lines(self.path, self.text[:last], self.offsets[:last], self.is_joined)

    def join(self, first: int, inner: Sequence[int]) -> "Lines":
        """Leave out the lines before one, and put some others behind the ones before them, without a copy."""
        bounds, data = unpack_texts(self.text)
        kept = np.ones(len(self), np.bool_)
        kept[:first] = False
        kept[list(inner)] = False
        starts = np.append(bounds[:-1][kept], bounds[-1]).astype(np.int32)
        buffers = [None, pa.py_buffer(starts.data), pa.py_buffer(data.data)]
        text = pa.Array.from_buffers(pa.binary(), starts.size - 1, buffers)
        return Lines(self.path, text, self.offsets[kept], self.is_joined or bool(inner))

    def reject(self, marked: Bools, reasons: str | Sequence[str]) -> tuple["Lines", list[pa.RecordBatch]]:
        """Reject the lines that are marked, all for one reason or each for its own."""
        if not marked.any():
            return self, []
        return self.keep(~marked), [self.keep(marked).to_dead_letters(reasons)]

    def take(self, rows: NDArray[np.intp]) -> "Lines":
        """Take some rows."""
        return Lines(self.path, self.text.take(rows), self.offsets[rows], self.is_joined)

    def lengths(self) -> NDArray[np.int32]:
        """How many bytes stand before each line feed."""
        return np.diff(unpack_texts(self.text)[0]) - np.int32(1)

    def mark_blank(self) -> Bools:
        """Mark the lines that have nothing but a line end."""
        bounds, data = unpack_texts(self.text)
        lengths = self.lengths()
        ones = np.flatnonzero(lengths == 1)
        lengths[ones] -= data[bounds[ones]] == _CARRIAGE_RETURN
        return np.equal(lengths, 0)

    def mark_garbled(self) -> Bools:
        """Mark the lines that are not valid UTF-8."""
        marked, line = np.zeros(len(self), np.bool_), 0
        starts, data = unpack_texts(self.text)
        while line < len(self):
            try:
                codecs.utf_8_decode(data[starts[line] :].data, "strict", True)
                break
            except UnicodeDecodeError as wrong:
                line = int(np.searchsorted(starts, starts[line] + wrong.start, side="right"))
                marked[line - 1] = True
        return marked

    def to_dead_letters(self, reasons: str | Sequence[str]) -> pa.RecordBatch:
        """Make dead letters of these lines, all for one reason or each for its own."""
        if not self.text:
            return empty(REJECTS)
        heads: list[Any] = pc.binary_slice(self.text, 0, SHOWN_BYTES).to_pylist()
        locations = [byte_location(self.path, offset) for offset in self.offsets.tolist()]
        return make_dead_letters(reasons, [show_line(head) for head in heads], locations)


@dataclass(frozen=True)
class Block:
    """What was found in a block: lines that can be read, and dead letters of those that cannot.

    ``overlong_at`` is the byte at which a last line starts that was too long to be kept.
    """

    lines: Lines
    rejects: list[pa.RecordBatch]
    overlong_at: int | None = None
    is_quoted: bool = True
    """Whether there may be a quotation mark in it."""

    def sift(self, longest: int) -> "Block":
        """The same block without lines that cannot be read."""
        lines, rejects = sift(self.lines, longest)
        return Block(lines, rejects + self.rejects)


def read_block(path: str, start: int, stop: int, longest: int) -> Block:
    r"""Read the lines that start from byte ``start`` of a file to byte ``stop``, exclusive, and sift them.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     written = file.write(b"aaa\nbbb\ncccc\nd\n")
    ...     file.flush()
    ...     [read_block(file.name, start, start + 8, longest=80).lines.text.to_pylist() for start in (1, 9)]
    [[b'bbb\n', b'cccc\n'], [b'd\n']]
    """
    return read_raw_block(path, start, stop, longest).sift(longest)


def read_raw_block(path: str, start: int, stop: int, longest: int) -> Block:
    r"""Read the lines that start from byte ``start`` of a file to byte ``stop``, exclusive.

    A last line of more than ``longest`` bytes is not kept in memory beyond the block: the rest of it is
    passed over, piece by piece.
    """
    before = max(0, start - 1)  # the byte before the block tells whether a line starts at its first byte
    with open_text(path) as file:
        file.seek(before)
        data = file.read(stop - before + _AHEAD_BYTES)
        begin = _find_first_line(data, start, stop - before)
        if begin is None:
            return Block(Lines.split(path, b""), [])
        end, letters, overlong_at = data.find(b"\n", stop - 1 - before) + 1, list[pa.RecordBatch](), None
        if not end:
            last = data.rfind(b"\n", begin, stop - 1 - before) + 1 or begin
            data, length = _read_on(file, data, last, longest)
            end = last if length > longest else len(data)
            if length > longest:
                overlong_at = before + last
                letters = [_reject_overlong(path, overlong_at, data[last:], length, longest)]
    return Block(Lines.split(path, data, begin, end, before), letters, overlong_at, data.find(b'"', begin, end) >= 0)


def _find_first_line(data: bytes, start: int, stop: int) -> int | None:
    """Find where the first line starts in data that begins a byte before the block, None if the block owns none."""
    if start == 0:
        return len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    return data.find(b"\n", 0, stop - 1) + 1 or None


def _read_on(file: BinaryIO, data: bytes, last: int, longest: int) -> tuple[bytes, int]:
    """Read the line at ``last`` to its end, and count its bytes; what makes it too long is not kept."""
    kept, length = [data], len(data) - last
    while piece := file.read(_PIECE_BYTES):
        found = piece[: piece.find(b"\n") + 1] or piece
        length += len(found.removesuffix(b"\n"))
        kept += [found] if length <= longest else []
        if found.endswith(b"\n"):
            return b"".join(kept), length
    return b"".join([*kept, b"\n"]), length


def _reject_overlong(path: str, offset: int, head: bytes, length: int, longest: int) -> pa.RecordBatch:
    return make_dead_letters(
        describe_length(length, longest), [show_line(head[:SHOWN_BYTES])], [byte_location(path, offset)]
    )


def sift(lines: Lines, longest: int) -> tuple[Lines, list[pa.RecordBatch]]:
    r"""Leave out blank lines, and reject those that are too long or not text.

    >>> kept, rejects = sift(Lines.split("a.csv", b"x,1\n\nyyyyyyyyy\n\xff\n"), longest=8)
    >>> len(kept), [letter for batch in rejects for letter in batch["reason"].to_pylist()]
    (1, ['line of 9 bytes, at most 8', 'not valid UTF-8'])
    """
    filled = lines.keep(~lines.mark_blank())
    overlong = filled.lengths() > longest
    short, long_letters = filled.reject(
        overlong, [describe_length(int(n), longest) for n in filled.lengths()[overlong]]
    )
    kept, garbled_letters = short.reject(short.mark_garbled(), "not valid UTF-8")
    return kept, long_letters + garbled_letters


def describe_length(length: int, longest: int) -> str:
    """Say why a line was not read.

    >>> describe_length(10, 5)
    'line of 10 bytes, at most 5'
    """
    return f"line of {length} bytes, at most {longest}"


@dataclass(frozen=True)
class Parsed:
    """Texts in the declared columns, the line that each row came from, and dead letters of other lines."""

    texts: pa.RecordBatch
    lines: Lines
    rejects: list[pa.RecordBatch]


class TextLane(FileLane):
    """Lines in blocks of bytes. Every line is a reading or a dead letter, unless it is blank.

    A unit is peeked at once, for about 16 KiB at each end; what was seen is kept.
    """

    def __init__(
        self, file: StoredFile, definition: Source, options: FileOptions, block_bytes: int, unit_rows: int = MANY_ROWS
    ) -> None:
        super().__init__(file, definition, options, block_bytes, unit_rows)
        self._peeked: dict[int, tuple[Micros, Micros]] = {}
        self._line_bytes: float | None = None

    @abstractmethod
    def parse(self, lines: Lines) -> Parsed:
        """Take lines apart into the declared columns, as texts."""

    @abstractmethod
    def event_time_of(self, line: str) -> str | None:
        """Find the text of the event time in a line, None if the line is broken."""

    def count(self) -> int:
        """How many blocks the file has."""
        return -(-self._file.size // self._block_bytes)

    def weight(self, unit: int) -> int:
        """Guess how many lines a block has, by the length of the first lines of the file."""
        start, stop = self._byte_range(unit)
        return max(1, round((stop - start) / self.guess_line_bytes()))

    def guess_line_bytes(self) -> float:
        """Guess how long a line is, by the first lines of the file."""
        if self._line_bytes is None:
            lines = self._read_lines(0, min(_PEEK_BYTES, self._file.size))
            self._line_bytes = float(np.mean(lines.lengths() + 1)) if len(lines) else float(_PEEK_BYTES)
        return self._line_bytes

    def decode(self, unit: int) -> Unit:
        """Read a block: bytes, lines, texts, readings."""
        with report_read_errors(self.name):
            block = self.read_records(*self._byte_range(unit))
            parsed = self.parse(block.lines.skip_to(self.body_start()))
        found = conform_source(self._read_numbers(parsed.texts), self._definition)
        misfits = parsed.lines.take(found.misfits).to_dead_letters(found.reasons)

        def reject(rows: Rows, reasons: Sequence[str]) -> pa.RecordBatch:
            fitting = np.delete(np.arange(len(parsed.lines)), found.misfits)
            return parsed.lines.take(fitting[rows]).to_dead_letters(reasons)

        return Unit(found.readings, join([*block.rejects, *parsed.rejects, misfits], REJECTS), reject)

    def times_before(self, unit: int, count: int) -> Int64s:
        """Read back from the start of a block, farther until there are enough lines."""
        stop, size = self._byte_range(unit)[0], self._guess_bytes(count)
        lines = self._read_lines(max(0, stop - size), stop)
        while len(lines) < count and size < stop:
            size *= 4
            lines = self._read_lines(max(0, stop - size), stop)
        return self._read_times(lines)[-count:]

    def times_after(self, unit: int, count: int) -> Int64s:
        """Read on from the end of a block, farther until there are enough lines."""
        start, size, end = self._byte_range(unit)[1], self._guess_bytes(count), self._file.size
        lines = self._read_lines(start, min(start + size, end))
        while len(lines) < count and start + size < end:
            size *= 4
            lines = self._read_lines(start, min(start + size, end))
        return self._read_times(lines)[:count]

    def _guess_bytes(self, count: int) -> int:
        """Guess where so many lines end, rather too far than too near."""
        return round(1.2 * count * self.guess_line_bytes()) + 1

    def _read_times(self, lines: Lines) -> Int64s:
        """The event times of lines, without those that cannot be read."""
        name, texts = str(self._definition.event_time), self.parse(lines).texts
        if self._has_computed_time:
            read = conform_source(texts, self._definition).readings
        else:
            schema = pa.schema([self._definition.schema.field(name)])
            read = conform(self._read_numbers(texts.select([name])), schema, name).readings
        times: Int64s = read.column(name).cast(pa.int64()).to_numpy()
        return times

    def _read_numbers(self, texts: pa.RecordBatch) -> pa.RecordBatch:
        """Texts, with those of the event time as moments where they are numbers in a unit."""
        name, unit = self._definition.event_time, self._options.event_time_unit
        if name is None or unit is None or self._has_computed_time:
            return texts
        index = texts.schema.get_field_index(name)
        return texts.set_column(index, name, count_since_1970(texts.column(index), unit))

    def read_records(self, start: int, stop: int) -> Block:
        """Read the records that start in a range of bytes: lines, unless a format says otherwise."""
        return read_block(self.name, start, stop, self._options.max_line_bytes)

    def body_start(self) -> int:
        """The byte at which readings begin, behind a header if there is one."""
        return 0

    def _byte_range(self, unit: int) -> tuple[int, int]:
        start = unit * self._block_bytes
        return start, min(start + self._block_bytes, self._file.size)

    def _read_lines(self, start: int, stop: int) -> Lines:
        """The lines of a range of bytes, those of a header left out."""
        if start >= stop:
            return Lines.split(self.name, b"")
        with report_read_errors(self.name):
            block = read_block(self.name, start, stop, self._options.max_line_bytes)
        return block.lines.skip_to(self.body_start())

    def _find_ends(self, unit: int) -> tuple[Micros, Micros]:
        if unit not in self._peeked:
            self._peeked[unit] = self._peek(unit) or self._fall_back(unit)
        return self._peeked[unit]

    def _fall_back(self, unit: int) -> tuple[Micros, Micros]:
        """Date a block in which no line has a readable time: at the end of the nearest block before it that has one."""
        for earlier in range(unit - 1, -1, -1):
            if found := self._peeked.get(earlier) or self._peek(earlier):
                return found[1], found[1]
        return START_OF_TIME, START_OF_TIME

    def _peek(self, unit: int) -> tuple[Micros, Micros] | None:
        """Look at the first and the last lines of a block; where one end is broken, the other stands for it."""
        start, stop = self._byte_range(unit)
        head = self._read_lines(start, min(start + _PEEK_BYTES, stop)) or self._read_lines(start, stop)
        tail = self._read_lines(max(stop - _PEEK_BYTES, start), stop) or head
        around = self._look_around(start, stop) if self._limit and len(tail) < _PEEK_LINES else []
        first = self._choose_moment(self._find_moments(head.text[:_PEEK_LINES]), around)
        last = self._choose_moment(self._find_moments(tail.text[-_PEEK_LINES:])[::-1], around)
        found = [moment for moment in (first, last) if moment is not None]
        return (found[0], found[-1]) if found else None

    def _look_around(self, start: int, stop: int) -> list[Micros]:
        """The times of some lines before and behind a block."""
        before = self._read_lines(max(start - _PEEK_BYTES, 0), start).text[-_PEEK_LINES:]
        after = self._read_lines(stop, min(stop + _PEEK_BYTES, self._file.size)).text[:_PEEK_LINES]
        return [*self._find_moments(before), *self._find_moments(after)]

    def _choose_moment(self, moments: Sequence[Micros], around: Sequence[Micros]) -> Micros | None:
        """The first moment that is not far ahead of the others: a wrong clock must not end a block."""
        if self._limit is None or not moments:
            return moments[0] if moments else None
        middle = sorted([*moments, *around])[(len(moments) + len(around) - 1) // 2]
        return next((moment for moment in moments if moment <= middle + self._limit.near_us), middle)

    @property
    def _has_computed_time(self) -> bool:
        return self._definition.event_time in dict(self._definition.generated)

    def _find_moments(self, lines: "pa.Array[Any]") -> list[Micros]:
        if self._has_computed_time:
            found = self._read_times(Lines(self.name, lines, np.zeros(len(lines), np.int64)))
            return [Micros(moment) for moment in found.tolist()]
        return read_moments(
            [self.event_time_of(line.decode()) for line in lines.to_pylist()], self._options.event_time_unit
        )
