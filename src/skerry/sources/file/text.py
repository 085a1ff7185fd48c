"""A text file as a lane: byte blocks as units, peeks at their first and last lines, the way from bytes to readings."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.model.batch import join
from skerry.model.time import START_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.sources.file.blocks import read_block
from skerry.sources.file.conform import EARLIEST, LATEST, conform
from skerry.sources.file.lane import FileLane, StoredFile, readable
from skerry.sources.file.lines import Lines
from skerry.sources.file.options import FileOptions
from skerry.sources.source import REJECTS, Decoded

__all__ = ["Parsed", "TextLane"]

_PEEK_BYTES = 1 << 14
_PEEK_LINES = 8
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

    def __init__(self, file: StoredFile, definition: Source, options: FileOptions, block_bytes: int) -> None:
        super().__init__(file, definition, options, block_bytes)
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
        start, stop = self._span(unit)
        if self._line_bytes is None:
            lines = self._lines(0, min(_PEEK_BYTES, self._file.size))
            self._line_bytes = float(np.mean(lines.lengths() + 1)) if len(lines) else float(_PEEK_BYTES)
        return max(1, round((stop - start) / self._line_bytes))

    def decode(self, unit: int) -> Decoded:
        """Read a block: bytes, lines, texts, readings."""
        with readable(self.name):
            block = read_block(self.name, *self._span(unit), self._options.max_line_bytes)
            parsed = self.parse(block.lines.since(self.body_start()))
        found = conform(parsed.texts, self._definition.schema, self._definition.event_time)
        misfits = parsed.lines.at(found.misfits).rejected(found.reasons)
        return Decoded(found.readings, join([*block.rejects, *parsed.rejects, misfits], REJECTS))

    def body_start(self) -> int:
        """The byte at which readings begin, behind a header if there is one."""
        return 0

    def _span(self, unit: int) -> tuple[int, int]:
        start = unit * self._block_bytes
        return start, min(start + self._block_bytes, self._file.size)

    def _lines(self, start: int, stop: int) -> Lines:
        with readable(self.name):
            block = read_block(self.name, start, stop, self._options.max_line_bytes)
        return block.lines.since(self.body_start())

    def _ends(self, unit: int) -> tuple[Micros, Micros]:
        if unit not in self._peeked:
            self._peeked[unit] = self._peek(unit) or self._before(unit)
        return self._peeked[unit]

    def _before(self, unit: int) -> tuple[Micros, Micros]:
        """Location a block in which no line tells its time at the end of the nearest one before it that does."""
        for earlier in range(unit - 1, -1, -1):
            if found := self._peeked.get(earlier) or self._peek(earlier):
                return found[1], found[1]
        return START_OF_TIME, START_OF_TIME

    def _peek(self, unit: int) -> tuple[Micros, Micros] | None:
        """Look at the first and the last lines of a block; where one end is broken, the other stands for it."""
        start, stop = self._span(unit)
        head = self._lines(start, min(start + _PEEK_BYTES, stop)) or self._lines(start, stop)
        tail = self._lines(max(stop - _PEEK_BYTES, start), stop) or head
        first = self._first_moment(head.text[:_PEEK_LINES].to_pylist())
        last = self._first_moment(tail.text[-_PEEK_LINES:].to_pylist()[::-1])
        found = [moment for moment in (first, last) if moment is not None]
        return (found[0], found[-1]) if found else None

    def _first_moment(self, lines: Iterable[Any]) -> Micros | None:
        texts = (self.event_time_of(line.decode()) for line in lines)
        moments = (_moment(text) for text in texts if text)
        return next((moment for moment in moments if moment is not None), None)


def _moment(text: str) -> Micros | None:
    """Read one time as ``conform`` would, or nearly: Python reads the usual forms at once."""
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return _unusual_moment(text)
    aware = read if read.tzinfo else read.replace(tzinfo=UTC)
    moment = Micros((aware - _EPOCH) // timedelta(microseconds=1))
    return moment if EARLIEST <= moment <= LATEST else None


def _unusual_moment(text: str) -> Micros | None:
    times = conform(pa.record_batch({"ts": [text]}), pa.schema({"ts": TIMESTAMP}), "ts").readings.column("ts")
    return Micros(times.cast(pa.int64())[0].as_py()) if len(times) else None
