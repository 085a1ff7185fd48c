"""A file that may grow: what of it was read, and what can be read by now."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.batch import join
from skerry.model.duckdb_session import query_batch
from skerry.model.time import Micros
from skerry.model.types import is_json
from skerry.sources.dead_letters import byte_location
from skerry.sources.file.csv import CsvLane
from skerry.sources.file.csv_records import LONGEST_RECORD_BYTES
from skerry.sources.file.jsonl import JsonLane
from skerry.sources.file.lane import StoredFile
from skerry.sources.file.options import FileOptions
from skerry.sources.file.text import Lines, TextLane
from skerry.sources.spool.frame import RECEIVED

__all__ = ["FORMATS", "Reach", "read_on"]

FORMATS: Mapping[str, type[TextLane]] = {".csv": CsvLane, ".json": JsonLane, ".jsonl": JsonLane, ".ndjson": JsonLane}
_HEAD_BYTES = 256
_QUOTE, _LINE_FEED = b'"\n'
_MOST_BYTES = 8 << 20
"""So much is read at once; a line may be longer, up to the longest that is allowed."""


@dataclass(frozen=True)
class Reach:
    """How far a file was read, and the checksum of its first bytes, by which it is known."""

    offset: int = 0
    head_bytes: int = 0
    checksum: int = 0

    @classmethod
    def from_json(cls, found: list[int] | None) -> "Reach":
        """As it was noted."""
        return cls(*found) if found else cls()

    def to_json(self) -> list[int]:
        """As it is noted."""
        return [self.offset, self.head_bytes, self.checksum]

    def is_of(self, descriptor: int, size: int) -> bool:
        """Whether a file is the one that was read so far: it has not become shorter, nor begins with other bytes."""
        return size >= self.offset and crc32(os.pread(descriptor, self.head_bytes, 0)) == self.checksum


def read_on(
    path: str, reach: Reach, definition: Source, options: FileOptions, arrived_us: Micros, *, is_settled: bool
) -> tuple[pa.RecordBatch, Reach] | None:
    """Read what was appended since, whole lines only, unless the file ``is_settled``; None if there is nothing."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        known = reach if reach.is_of(file.fileno(), size) else Reach()
        stop = _find_stop(file.fileno(), known.offset, size, options.max_line_bytes, is_settled=is_settled)
        if path.lower().endswith(".csv") and not is_settled:
            stop = known.offset + _hold_back(os.pread(file.fileno(), stop - known.offset, known.offset))
        if stop <= known.offset:
            return None if known == reach else (RECEIVED.empty_table().to_batches()[0], known)
        head_bytes = max(known.head_bytes, min(stop, _HEAD_BYTES))
        checksum = crc32(os.pread(file.fileno(), head_bytes, 0))
    reached = Reach(stop, head_bytes, checksum)
    lane = FORMATS[os.path.splitext(path)[1].lower()](StoredFile(path, stop, 0), definition, options, max(stop, 1))
    try:
        lane.check()
    except SourceError as error:  # the file does not fit the declaration; the next one may
        return _make(pa.array([path]), pa.array([""]), pa.array([str(error)]), arrived_us), reached
    return _receive(lane, known.offset, stop, arrived_us), reached


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
