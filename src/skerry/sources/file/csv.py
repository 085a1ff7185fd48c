"""CSV: a header that names the columns, then a record a line."""

import csv
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from skerry.errors import RunError, SourceError
from skerry.model.arrays import Bools
from skerry.model.batch import empty, join
from skerry.model.text_encoding import explain_encoding
from skerry.sources.file.conform import Column, unpack_texts
from skerry.sources.file.csv_records import (
    LONGEST_RECORD_BYTES,
    RecordShape,
    find_record_start,
    join_records,
    mark_open,
)
from skerry.sources.file.lane import find_columns, report_read_errors
from skerry.sources.file.text import Block, Lines, Parsed, TextLane, read_raw_block
from skerry.sources.file.unpack import open_text

__all__ = ["CsvLane"]

_BYTE_ORDER_MARK = "\ufeff"
_LINE_FEED, _CARRIAGE_RETURN = b"\n\r"


class CsvLane(TextLane):
    """A CSV file. Fields may be quoted; a quote inside a quoted field is doubled; a line end inside belongs to it.

    Columns are found by the names in the header, and other columns are passed over; without a header
    the fields are the declared columns, in their order. An empty field is NULL, a quoted empty one an
    empty text. A line with too few or too many fields, a quote that is never closed, or a carriage
    return inside is a dead letter, and does not touch its neighbours.
    """

    def check(self) -> None:
        """Read the header."""
        _ = self._layout

    def body_start(self) -> int:
        """The byte behind the header."""
        return self._layout.body_start

    def event_time_of(self, line: str) -> str | None:
        """Find the field of the event time."""
        index = self._layout.indices[self._definition.stored_schema.names.index(str(self._definition.event_time))]
        fields = _split_fields(line, self._options.delimiter)
        return fields[index] if len(fields) == self._layout.width else None

    def read_records(self, start: int, stop: int) -> Block:
        """Read the records that start in a range of bytes; those that are one line each, mostly, at once."""
        longest = self._options.max_line_bytes
        block = read_raw_block(self.name, start, stop, longest)
        near = [block]
        if start:
            near.append(read_raw_block(self.name, max(0, start - LONGEST_RECORD_BYTES), start, longest))
        if any(each.is_quoted and mark_open(each.lines, self._options.delimiter).any() for each in near):
            block = self._read_long_records(start, stop)
        return block.sift(longest)

    def _read_long_records(self, start: int, stop: int) -> Block:
        """Read records that may be several lines, with as many lines around the block as there must be to tell."""
        longest, back = self._options.max_line_bytes, 4 * LONGEST_RECORD_BYTES
        shape = RecordShape(self._options.delimiter, self._layout.width, min(longest, LONGEST_RECORD_BYTES))
        while True:
            top, end = max(0, start - back), min(stop + LONGEST_RECORD_BYTES, self._file.size)
            wide = read_raw_block(self.name, top, end, longest)
            is_open = mark_open(wide.lines, self._options.delimiter)
            first = find_record_start(wide.lines, start, is_open, shape, from_the_top=top == 0)
            if first is not None:
                break
            back *= 4
        records = join_records(wide.lines, is_open, shape, first).stop_at(stop)
        is_overlong_here = wide.overlong_at is not None and start <= wide.overlong_at < stop
        return Block(records, wide.rejects if is_overlong_here else [])

    def parse(self, lines: Lines) -> Parsed:
        """Take lines apart, rejecting those that would split in two or swallow the next."""
        whole, split = lines.reject(_mark_inner_returns(lines), "carriage return inside the line")
        records, unclosed = self._parse_records(whole), list[pa.RecordBatch]()
        if records.count != len(whole) or not self._mark_closed(whole.text[-1:]).all():
            whole, unclosed = whole.reject(~self._mark_closed(whole.text), "quote that is never closed")
            records = self._parse_records(whole)
        if records.count != len(whole):
            raise RunError(f"{self.name}: {len(whole)} lines gave {records.count} records")
        odd = np.zeros(len(whole), np.bool_)
        odd[list(records.odd)] = True
        reasons = [f"has {fields} fields, expected {self._layout.width}" for fields in records.odd.values()]
        fitting, misfits = whole.reject(odd, reasons)
        return Parsed(records.texts, fitting, split + unclosed + misfits)

    def _parse_records(self, lines: Lines) -> "_Records":
        """Let Arrow find the fields; it skips lines with a wrong number of them, and says which."""
        odd: dict[int, int] = {}

        def skip(row: arrow_csv.InvalidRow) -> str:
            odd[int(row.number or 0) - 1] = row.actual_columns
            return "skip"

        schema = pa.schema([(name, pa.string()) for name in self._definition.stored_schema.names])
        if not len(lines):
            return _Records(empty(schema), odd)
        data = unpack_texts(lines.text)[1].data
        stored: Any = pa.BufferReader(pa.py_buffer(data))
        table = arrow_csv.open_csv(
            stored, *self._arrow_options(data.nbytes, skip, is_joined=lines.is_joined)
        ).read_all()
        texts = pa.table([table.column(str(index)) for index in self._layout.indices], schema=schema)
        return _Records(join(texts.to_batches(), schema), odd)

    def _arrow_options(self, size: int, skip: Any, *, is_joined: bool) -> tuple[Any, Any, Any]:
        """Have fields read as texts, in one piece and by one thread: only then are rows numbered."""
        names = [str(index) for index in range(self._layout.width)]
        wanted = sorted({str(index) for index in self._layout.indices})
        return (
            arrow_csv.ReadOptions(use_threads=False, block_size=size + 1, column_names=names),
            arrow_csv.ParseOptions(
                delimiter=self._options.delimiter, invalid_row_handler=skip, newlines_in_values=is_joined
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,
                include_columns=wanted,
                column_types=dict.fromkeys(wanted, pa.string()),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                null_values=[""],
            ),
        )

    def _mark_closed(self, lines: Column) -> Bools:
        """Mark the lines that end outside quotes, by the grammar Arrow parses by."""
        comma = f"\\x{ord(self._options.delimiter):02x}"
        field = f'(?:"(?:[^"]|"")*"(?:[^"{comma}][^{comma}]*)?|[^"{comma}][^{comma}]*|)'
        closed: Any = pc.match_substring_regex(lines, f"^{field}(?:{comma}{field})*$")
        marks: Bools = closed.to_numpy(zero_copy_only=False)
        return marks

    @cached_property
    def _layout(self) -> "_Layout":
        """Read the header, or lay out the declared columns where there is none."""
        schema = self._definition.stored_schema
        if not (self._options.header and self._file.size):
            return _Layout(len(schema), list(range(len(schema))), 0)
        with report_read_errors(self.name), open_text(self.name) as file:
            line = file.readline(self._options.max_line_bytes + 2)
        names = self._parse_header(line)
        return _Layout(len(names), find_columns(self.name, schema, names), len(line))

    def _parse_header(self, line: bytes) -> list[str]:
        if len(line.removesuffix(b"\n")) > self._options.max_line_bytes:
            raise SourceError(f"the header of {self.name} has more than {self._options.max_line_bytes} bytes")
        if (problem := explain_encoding(self.name, line)) is not None:
            raise SourceError(problem)
        return _split_fields(line.decode(errors="replace").removeprefix(_BYTE_ORDER_MARK), self._options.delimiter)


@dataclass(frozen=True)
class _Layout:
    """How many fields a record has, which of them are declared, and at which byte records begin."""

    width: int
    indices: list[int]
    body_start: int


@dataclass(frozen=True)
class _Records:
    """Texts of the records that are right, and the wrong numbers of fields of the others, by record."""

    texts: pa.RecordBatch
    odd: dict[int, int]

    @property
    def count(self) -> int:
        return self.texts.num_rows + len(self.odd)


def _split_fields(line: str, delimiter: str) -> list[str]:
    """Take one line apart, none if that cannot be done."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _mark_inner_returns(lines: Lines) -> Bools:
    """Mark the lines with a carriage return that is not part of the line end: Arrow would split them there."""
    bounds, data = unpack_texts(lines.text)
    returns = np.flatnonzero(data == _CARRIAGE_RETURN)
    inner = returns[data[returns + 1] != _LINE_FEED]
    marked = np.zeros(len(lines), np.bool_)
    marked[np.searchsorted(bounds, inner, side="right") - 1] = True
    return marked
