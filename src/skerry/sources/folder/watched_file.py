"""A file that may grow: what of it was read, and what can be read by now."""

import os
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from stat import S_ISREG
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.batch import empty, join
from skerry.model.duckdb_session import query_batch
from skerry.model.time import Micros
from skerry.model.types import is_json
from skerry.sources.dead_letters import byte_location, show_line
from skerry.sources.file.csv import CsvLane
from skerry.sources.file.csv_records import LONGEST_RECORD_BYTES
from skerry.sources.file.jsonl import JsonLane
from skerry.sources.file.lane import StoredFile
from skerry.sources.file.options import FileOptions
from skerry.sources.file.text import Lines, TextLane
from skerry.sources.file.unpack import forget_copy, format_suffix, is_packed, open_text
from skerry.sources.spool.frame import RECEIVED

__all__ = ["FORMATS", "Reach", "find_number", "is_known", "read_on"]

FORMATS: Mapping[str, type[TextLane]] = {".csv": CsvLane, ".json": JsonLane, ".jsonl": JsonLane, ".ndjson": JsonLane}
_HEAD_BYTES, _TAIL_BYTES = 256, 256
_QUOTE, _LINE_FEED = b'"\n'
_REST = "the rest of a line that was read without it: it came later than 'settle' allows"
_MOST_BYTES = 8 << 20
"""So much is read at once; a line may be longer, up to the longest that is allowed."""


@dataclass(frozen=True)
class Reach:
    """How far a file was read, and what it is known by: its number in the file system, and its first and last bytes.

    ``packed_bytes`` is how long a compressed file was. Such a file does not grow: it is read when it is whole.
    """

    offset: int = 0
    head_bytes: int = 0
    head: int = 0
    tail: int = 0
    file_id: int = 0
    packed_bytes: int | None = None
    is_done: bool = False

    @classmethod
    def from_json(cls, found: list[Any] | None) -> "Reach":
        """As it was noted."""
        return cls(*found) if found else cls()

    def to_json(self) -> list[Any]:
        """As it is noted."""
        return list(astuple(self))

    @classmethod
    def measure(cls, file: BinaryIO, offset: int, head_bytes: int, packed: os.stat_result | None) -> "Reach":
        """That of a text that was read so far; ``packed`` is the file that it was in, if that is compressed."""
        stat = os.fstat(file.fileno())
        head_bytes = max(head_bytes, min(offset, _HEAD_BYTES))
        head, tail = _sum_up(file, 0, head_bytes), _sum_up(file, offset - _count_tail(offset), _count_tail(offset))
        if packed is None:
            return cls(offset, head_bytes, head, tail, stat.st_ino)
        return cls(offset, head_bytes, head, tail, packed.st_ino, packed.st_size, offset >= stat.st_size)

    def is_of(self, file: BinaryIO) -> bool:
        """Whether a text is the one that was read so far: the same at its start, and where reading ended."""
        if os.fstat(file.fileno()).st_size < self.offset:
            return False
        length = _count_tail(self.offset)
        return (
            _sum_up(file, 0, self.head_bytes) == self.head and _sum_up(file, self.offset - length, length) == self.tail
        )


def find_number(path: str) -> int | None:
    """The number by which the file system knows a file; None if there is no file."""
    try:
        stat = os.stat(path)
    except FileNotFoundError:
        return None
    return stat.st_ino if S_ISREG(stat.st_mode) else None


def is_known(path: str, reach: Reach) -> bool:
    """Whether a file is the one of which so much was read."""
    if is_packed(path):
        return os.stat(path).st_size == reach.packed_bytes and os.stat(path).st_ino == reach.file_id
    with open(path, "rb") as file:
        return reach.packed_bytes is None and reach.is_of(file)


def read_on(
    path: str,
    number: int,
    reach: Reach,
    definition: Source,
    options: FileOptions,
    arrived_us: Micros,
    *,
    is_settled: bool,
) -> tuple[pa.RecordBatch, Reach] | None:
    """Read what was appended since, whole lines only, unless the file ``is_settled``; None if there is nothing.

    A compressed file is read once it has settled; what cannot be unpacked is one dead letter. A file of another
    ``number`` has got the name a moment ago, and is left for the next look, which finds where the one before has gone.
    """
    if not is_packed(path):
        with open(path, "rb") as text:
            if os.fstat(text.fileno()).st_ino != number:
                return None
            return _read_text(path, text, None, reach, definition, options, arrived_us, is_settled=is_settled)
    packed = os.stat(path)
    if not is_settled or packed.st_ino != number or (reach.is_done and is_known(path, reach)):
        return None
    try:
        with open_text(path) as text:
            found = _read_text(path, text, packed, reach, definition, options, arrived_us, is_settled=True)
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, FileNotFoundError):
            raise
        done = Reach(file_id=packed.st_ino, packed_bytes=packed.st_size, is_done=True)
        return _reject(path, "", f"cannot be unpacked: {error}", arrived_us), done
    if found is None or found[1].is_done:
        forget_copy(path)
    return found or (empty(RECEIVED), Reach(file_id=packed.st_ino, packed_bytes=packed.st_size, is_done=True))


def _read_text(
    path: str,
    text: BinaryIO,
    packed: os.stat_result | None,
    reach: Reach,
    definition: Source,
    options: FileOptions,
    arrived_us: Micros,
    *,
    is_settled: bool,
) -> tuple[pa.RecordBatch, Reach] | None:
    size = os.fstat(text.fileno()).st_size
    is_same = reach.is_of(text) and reach.packed_bytes == (packed and packed.st_size)
    known = reach if is_same else Reach()
    stop = _find_stop(text.fileno(), known.offset, size, options.max_line_bytes, is_settled=is_settled)
    if format_suffix(path) == ".csv" and not is_settled:
        stop = known.offset + _hold_back(os.pread(text.fileno(), stop - known.offset, known.offset))
    if stop <= known.offset:
        return None if known == reach else (empty(RECEIVED), known)
    reached = Reach.measure(text, stop, known.head_bytes, packed)
    lane = FORMATS[format_suffix(path)](StoredFile(path, stop, 0), definition, options, max(stop, 1))
    try:
        lane.check()
    except SourceError as error:  # the file does not fit the declaration; the next one may
        is_new = known.offset == 0
        return _reject(path, "", str(error), arrived_us) if is_new else empty(RECEIVED), reached
    rest = _find_rest(text.fileno(), known.offset, stop)
    received = _receive(lane, known.offset, stop, arrived_us)
    if rest:
        letter = _reject(byte_location(path, known.offset), show_line(rest), _REST, arrived_us)
        received = join([letter, received], RECEIVED)
    return received, reached


def _find_rest(descriptor: int, start: int, stop: int) -> bytes:
    """What came later of a line that was read as far as it was there."""
    if start == 0 or os.pread(descriptor, 1, start - 1) == b"\n":
        return b""
    return os.pread(descriptor, stop - start, start).partition(b"\n")[0].strip()


def _reject(origin: str, line: str, reason: str, arrived_us: Micros) -> pa.RecordBatch:
    return _make(pa.array([origin]), pa.array([line]), pa.array([reason]), arrived_us)


def _count_tail(offset: int) -> int:
    return min(offset, _TAIL_BYTES)


def _sum_up(file: BinaryIO, start: int, length: int) -> int:
    return crc32(os.pread(file.fileno(), length, start))


def _find_stop(descriptor: int, start: int, size: int, longest: int, *, is_settled: bool) -> int:
    """Where the last whole line ends, of those that are read at once."""
    end, piece = min(size, start + _MOST_BYTES), 0
    while True:
        data = os.pread(descriptor, end - start - piece, start + piece)
        found = data.rfind(b"\n")
        if found >= 0:
            return start + piece + found + 1
        if end >= size:
            return size if is_settled or size - start > longest else start
        piece, end = end - start, min(size, end + _MOST_BYTES)


def _hold_back(data: bytes) -> int:
    """How much of whole lines of CSV to read: a record that may have more lines is left for later."""
    marks = np.frombuffer(data, np.uint8)
    is_open = np.cumsum(marks == _QUOTE) % 2 == 1
    if not data or not is_open[-1]:
        return len(data)
    closed = np.flatnonzero((marks == _LINE_FEED) & ~is_open)
    end = int(closed[-1]) + 1 if closed.size else 0
    return end if len(data) - end <= LONGEST_RECORD_BYTES else len(data)


def _receive(lane: TextLane, start: int, stop: int, arrived_us: Micros) -> pa.RecordBatch:
    """Lines as JSON, each with its location in the file."""
    block = lane.read_records(start, stop)
    parsed = lane.parse(block.lines.skip_to(lane.body_start()))
    lines = parsed.lines.text.cast(pa.string()) if isinstance(lane, JsonLane) else _to_json(parsed.texts, lane.schema)
    readings = _make(_locate(parsed.lines), lines, pa.nulls(len(lines), pa.string()), arrived_us)
    letters = [
        _make(batch.column("place"), batch.column("reading"), batch.column("reason"), arrived_us)
        for batch in (*block.rejects, *parsed.rejects)
    ]
    return join([readings, *letters], RECEIVED)


def _to_json(texts: pa.RecordBatch, schema: pa.Schema) -> "pa.Array[Any]":
    names = ", ".join(_write_column(schema.field(name)) for name in texts.schema.names)
    found = query_batch(f"SELECT to_json(unit)::VARCHAR AS line FROM (SELECT {names} FROM unit) AS unit", texts)
    return found.column("line")


def _write_column(field: "pa.Field[pa.DataType]") -> str:
    """A column in SQL: as the text that it is, or as the JSON that it says it is."""
    name = '"' + field.name.replace('"', '""') + '"'
    return (
        f"CASE WHEN json_valid({name}) THEN {name}::JSON ELSE to_json({name}) END AS {name}" if is_json(field) else name
    )


def _locate(lines: Lines) -> "pa.Array[Any]":
    return pa.array([byte_location(lines.path, int(offset)) for offset in lines.offsets], pa.string())


def _make(origin: "pa.Array[Any]", line: "pa.Array[Any]", problem: "pa.Array[Any]", at_us: Micros) -> pa.RecordBatch:
    arrived = pa.array([at_us] * len(line), pa.timestamp("us"))
    return pa.RecordBatch.from_arrays([origin, line, problem, arrived], schema=RECEIVED)
