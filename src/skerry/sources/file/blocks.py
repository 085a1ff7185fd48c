r"""Byte blocks of a text file, and the lines that start in them.

A block owns the lines that start in it, and reads the last of them to its end, beyond the block. So
every line is read once, whatever the size of the blocks, and no block needs to know another.

    a a a \n b b b \n c c c c \n d \n
    |--- block 0 ---|--- block 1 ---|            block 0: aaa, bbb, cccc    block 1: d
"""

from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from skerry.sources.file.letters import SHOWN_BYTES, byte_place, dead_letters, shown
from skerry.sources.file.lines import Lines, sift, too_long

__all__ = ["Block", "read_block"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_AHEAD_BYTES = 1 << 16
"""The last line of a block mostly ends within this, and is then read in one go with the block."""

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Block:
    """What was found in a block: lines that can be read, and dead letters of those that cannot."""

    lines: Lines
    rejects: list[pa.RecordBatch]


def read_block(path: str, start: int, stop: int, longest: int) -> Block:
    r"""Read the lines that start from byte ``start`` of a file to byte ``stop``, exclusive.

    A line of more than ``longest`` bytes is not kept in memory beyond the block: the rest of it is
    passed over, piece by piece.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     written = file.write(b"aaa\nbbb\ncccc\nd\n")
    ...     file.flush()
    ...     [read_block(file.name, start, start + 8, longest=80).lines.text.to_pylist() for start in (1, 9)]
    [[b'bbb\n', b'cccc\n'], [b'd\n']]
    """
    before = max(0, start - 1)  # the byte before the block tells whether a line starts at its first byte
    with open(path, "rb") as file:
        file.seek(before)
        data = file.read(stop - before + _AHEAD_BYTES)
        begin = _first_line(data, start, stop - before)
        if begin is None:
            return Block(Lines.split(path, b""), [])
        end, letters = data.find(b"\n", stop - 1 - before) + 1, []
        if not end:
            last = data.rfind(b"\n", begin, stop - 1 - before) + 1 or begin
            data, length = _read_on(file, data, last, longest)
            end = last if length > longest else len(data)
            letters = [_overlong(path, before + last, data[last:], length, longest)] if length > longest else []
    lines, rejects = sift(Lines.split(path, data, begin, end, before), longest)
    return Block(lines, rejects + letters)


def _first_line(data: bytes, start: int, stop: int) -> int | None:
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


def _overlong(path: str, offset: int, head: bytes, length: int, longest: int) -> pa.RecordBatch:
    return dead_letters(too_long(length, longest), [shown(head[:SHOWN_BYTES])], [byte_place(path, offset)])
