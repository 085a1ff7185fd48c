"""A message as bytes, for queues whose ends are in two processes: a checksum, and what the message holds.

mark  checksum  number  kind  stream  length | body
"SKQ1"                  a letter               an Arrow batch with its schema, or JSON
"""

import json
import struct
from dataclasses import asdict
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa

from skerry.errors import RunError
from skerry.fjord.queues.message import Advance, Message, Note, Rows
from skerry.model.batch import pack, unpack

__all__ = ["HEADER_BYTES", "Header", "pack_message", "read_header", "unpack_message"]

_MARK = b"SKQ1"
_HEADER = struct.Struct("<4sIQcIQ")
HEADER_BYTES = _HEADER.size
_KINDS: dict[bytes, type[Advance] | type[Note]] = {b"A": Advance, b"N": Note}


class Header(NamedTuple):
    """What stands before a message: a checksum of all else, its number, its kind, its stream, its length."""

    checksum: int
    number: int
    kind: bytes
    stream: int
    length: int


def pack_message(message: Message, number: int) -> bytes:
    """A message under a number."""
    if isinstance(message, Rows):
        kind, stream, body = b"R", message.stream, pack(message.batch)
    else:
        kind, stream, body = type(message).__name__[:1].encode(), 0, json.dumps(asdict(message)).encode()
    fields = number, kind, stream, len(body)
    return _HEADER.pack(_MARK, _find_checksum(fields, body), *fields) + body


def read_header(data: bytes) -> Header:
    """The header that these bytes are; ``RunError`` if they are none."""
    mark, *fields = _HEADER.unpack(data)
    if mark != _MARK:
        raise RunError("a queue is damaged: where a message is to begin there is something else")
    return Header(*fields)


def unpack_message(header: Header, body: bytes | pa.Buffer) -> Message:
    """The message with this header and body; ``RunError`` if it is not as it was written."""
    if _find_checksum(header[1:], body) != header.checksum:
        raise RunError(f"a queue is damaged: message {header.number} is not as it was written")
    if header.kind == b"R":
        return Rows(unpack(body), header.stream)
    return _KINDS[header.kind](**json.loads(bytes(body)))


def _find_checksum(fields: tuple[int, bytes, int, int], body: bytes | pa.Buffer) -> int:
    return crc32(body, crc32(struct.pack("<QcIQ", *fields)))
