"""Frames: what was received within a moment, as one checksummed piece of a segment.

    mark  checksum  rows  time  note length  body length | note | body
    "SKF1", or four zeros: the frame is not valid yet      JSON   an Arrow batch of ``RECEIVED``

A frame is written with zeros for its mark, brought to disk, and then marked. So whoever sees the mark sees a frame that
a crash cannot take back; one that is whole but not marked is marked by the writer that comes after the crash. Frames
behind each other are whole but for the last: anything else is damage, and is told.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import pyarrow as pa

from skerry.model.time import Micros

__all__ = [
    "HEADER_BYTES",
    "MARK",
    "RECEIVED",
    "Header",
    "has_frame",
    "is_whole",
    "pack_frame",
    "read_body",
    "read_header",
    "read_note",
]

RECEIVED = pa.schema(
    {"origin": pa.string(), "line": pa.string(), "problem": pa.string(), "arrived": pa.timestamp("us")},
)
"""One reading as it came: where from (a topic, a location in a file), its JSON text, when; or why it cannot be one."""

MARK, _UNMARKED = b"SKF1", b"\0\0\0\0"
_HEADER = struct.Struct("<4sIIqII")
HEADER_BYTES = _HEADER.size


@dataclass(frozen=True)
class Header:
    """A frame's position in its segment, how long its parts are, how many readings it has, and until when it came."""

    offset: int
    is_marked: bool
    checksum: int
    rows: int
    time_us: Micros
    note_bytes: int
    body_bytes: int

    @property
    def end(self) -> int:
        """Where the next frame begins."""
        return self.offset + HEADER_BYTES + self.note_bytes + self.body_bytes


def pack_frame(received: pa.RecordBatch, time_us: Micros, note: Mapping[str, Any]) -> bytes:
    """A frame that is not marked yet."""
    body, text = received.serialize().to_pybytes(), json.dumps(note).encode() if note else b""
    fields = received.num_rows, time_us, len(text), len(body)
    checksum = _checksum(fields, text + body)
    return _HEADER.pack(_UNMARKED, checksum, *fields) + text + body


def read_header(data: bytes, offset: int) -> Header | None:
    """The header of the frame that begins with these bytes; None where nothing was written."""
    if len(data) < HEADER_BYTES:
        return None
    mark, checksum, rows, time_us, note_bytes, body_bytes = _HEADER.unpack(data[:HEADER_BYTES])
    if not body_bytes:
        return None
    return Header(offset, mark == MARK, checksum, rows, Micros(time_us), note_bytes, body_bytes)


def is_whole(header: Header, data: bytes) -> bool:
    """Whether note and body, which these bytes are, are as they were written."""
    fields = header.rows, header.time_us, header.note_bytes, header.body_bytes
    return len(data) == header.note_bytes + header.body_bytes and _checksum(fields, data) == header.checksum


def has_frame(data: bytes) -> bool:
    """Whether a frame that was marked begins somewhere in these bytes."""
    start = data.find(MARK)
    while start >= 0:
        header = read_header(data[start : start + HEADER_BYTES], start)
        if header and is_whole(header, data[start + HEADER_BYTES : header.end]):
            return True
        start = data.find(MARK, start + 1)
    return False


def read_note(header: Header, data: bytes) -> dict[str, Any]:
    """What the writer has noted."""
    found: dict[str, Any] = json.loads(data[: header.note_bytes]) if header.note_bytes else {}
    return found


def read_body(header: Header, data: bytes) -> pa.RecordBatch:
    """What was received."""
    return pa.ipc.read_record_batch(pa.py_buffer(data)[header.note_bytes :], RECEIVED)


def _checksum(fields: tuple[int, ...], data: bytes) -> int:
    return crc32(data, crc32(struct.pack("<IqII", *fields)))
