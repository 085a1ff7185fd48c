r"""Records of CSV that go over several lines: a line end inside quotes belongs to the field.

    a,1 \n b,"first line \n second line" \n c,3 \n
    |rec.|------ one record of two lines ------|rec.|

A line that ends inside quotes is *open*. It is one record with the lines behind it if the quotes close, all of it is
short enough, and either it has as many fields as the header, or its quotes are where RFC 4180 has them. In the latter
case all of it is wrong, and no line of it is taken for a record. Otherwise the open line is wrong by itself, most
likely by a stray quote, and touches no other.

Where a block begins, a record of the block before may still go on. Whether it does can be told near by: records are
short, so a line that no record could reach, from whichever open line it might start, begins a record for certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skerry.kernels.csv_lines import mark_open_lines
from skerry.model.arrays import Bools
from skerry.sources.file.conform import unpack_texts
from skerry.sources.file.text import Lines

__all__ = ["LONGEST_RECORD_BYTES", "RecordShape", "find_record_start", "join_records", "mark_open"]

LONGEST_RECORD_BYTES = 1 << 16
"""How long a record of several lines may be."""

_START, _PLAIN, _QUOTED, _CLOSED = range(4)
_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = b'"\n\r'


@dataclass(frozen=True)
class RecordShape:
    """What a record must be like: its delimiter, how many fields it has, and how many bytes at the most."""

    delimiter: str
    width: int
    longest: int

    def find_end(self, lines: Sequence[bytes]) -> int | None:
        r"""Count the lines of the record that starts with an open line, None if it is no record.

        >>> shape = RecordShape(",", 2, 100)
        >>> shape.find_end([b'a,"x\n', b'y"\n', b"b,c\n"]), shape.find_end([b'a,"x\n', b'y",3\n'])
        (2, 2)
        >>> shape.find_end([b'a,"x\n', b'b,"y",3\n'])
        """
        state, fields, size, is_strict = _START, 1, 0, True
        for number, line in enumerate(lines, 1):
            size += len(line)
            if size > self.longest + 1:
                return None
            state, more, strays = _scan(line, state, ord(self.delimiter))
            fields, is_strict = fields + more, is_strict and not strays
            if state != _QUOTED:
                return number if number > 1 and (is_strict or fields == self.width) else None
        return None


def mark_open(lines: Lines, delimiter: str) -> Bools:
    """Mark the lines that end inside quotes."""
    bounds, data = unpack_texts(lines.text)
    return mark_open_lines(bounds, data, delimiter)


def _scan(line: bytes, state: int, delimiter: int) -> tuple[int, int, int]:
    """Go over a line; give the state at its end, how many delimiters stood outside quotes, and what behind a quote."""
    fields = strays = 0
    for byte in line:
        if state == _QUOTED:
            state = _CLOSED if byte == _QUOTE else _QUOTED
        elif byte == _QUOTE and state != _PLAIN:  # a field begins, or a quote is doubled
            state = _QUOTED
        elif byte == delimiter:
            state, fields = _START, fields + 1
        elif byte != _LINE_FEED or state != _CLOSED:
            strays += state == _CLOSED and byte != _CARRIAGE_RETURN
            state = _PLAIN
    return state, fields, strays


def join_records(lines: Lines, is_open: Bools, shape: RecordShape, first: int = 0) -> Lines:
    """Make one line of each record of several, from a line on that begins a record."""
    inner: list[int] = []
    position = first
    for number in np.flatnonzero(is_open).tolist():
        if number >= position and (count := shape.find_end(_take(lines, number, shape))):
            inner += range(number + 1, number + count)
            position = number + count
    return lines.join(first, inner)


def find_record_start(
    lines: Lines, start: int, is_open: Bools, shape: RecordShape, *, from_the_top: bool
) -> int | None:
    """Find the first line from byte ``start`` on that begins a record, among lines that begin well before it.

    None if that cannot be told from these lines alone: every record before could reach into the next.
    """
    ends = {
        number: number + count
        for number in np.flatnonzero(is_open & (lines.offsets < start)).tolist()
        if (count := shape.find_end(_take(lines, number, shape)))
    }
    target = int(np.searchsorted(lines.offsets, start))
    certain = target
    while crossing := [number for number, end in ends.items() if number < certain < end]:
        certain = min(crossing)
    begins = int(lines.offsets[certain]) if certain < len(lines) else start
    if not from_the_top and begins - LONGEST_RECORD_BYTES < int(lines.offsets[0] if len(lines) else start):
        return None
    while certain < target:
        certain = ends.get(certain, certain + 1)
    return certain


def _take(lines: Lines, first: int, shape: RecordShape) -> list[bytes]:
    """The lines from one on, as many as a record could have."""
    last = int(np.searchsorted(lines.offsets, lines.offsets[first] + shape.longest + 1))
    found: list[bytes] = lines.text[first : last + 1].to_pylist()
    return found
