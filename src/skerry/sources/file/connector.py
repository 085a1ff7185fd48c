"""The file source: ``connector='file', path='data/traffic/*.csv'``."""

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.arrays import Bools
from skerry.model.batch import empty, join
from skerry.model.options import Option
from skerry.model.time import Micros
from skerry.sources.ahead import AheadLimit
from skerry.sources.arrival import find_piece
from skerry.sources.file.clock_check import event_times, mark_ahead_readings
from skerry.sources.file.conform import Rows
from skerry.sources.file.csv import CsvLane
from skerry.sources.file.jsonl import JsonLane
from skerry.sources.file.lane import MANY_ROWS, FileLane, StoredFile, Unit
from skerry.sources.file.options import FILE_OPTIONS, FileOptions
from skerry.sources.file.parquet import ParquetLane
from skerry.sources.file.text import TextLane
from skerry.sources.file.unpack import PACKED, format_suffix, is_packed
from skerry.sources.source import REJECTS, Connector, Decoded, Split

__all__ = ["FileConnector"]

_FORMATS: Mapping[str, type[FileLane]] = {
    ".csv": CsvLane,
    ".json": JsonLane,
    ".jsonl": JsonLane,
    ".ndjson": JsonLane,
    ".parquet": ParquetLane,
}
_ALL_BLOCKS_BYTES = 64 << 20
_LEAST_BLOCK_BYTES, _MOST_BLOCK_BYTES = 256 << 10, 8 << 20
_CHECKED_FILES = 1_000
_FILES_AT_ONCE = 8
_MOST_BLOCKS = 1_000_000
"""A file is not cut finer: the planner looks at each block."""


@dataclass(frozen=True)
class FileConnector(Connector):
    r"""Files that a pattern matches, each a lane, in the order of their paths.

    The files are listed once, when the source is opened; each is read only where and when a split asks
    for it, so the connector travels light and every machine that sees the path can read.

    >>> import pyarrow as pa, tempfile
    >>> base = Path(tempfile.mkdtemp())
    >>> _ = (base / "a.csv").write_text("speed,ts\n61.5,2026-01-01 00:00:00\nfast,2026-01-01 00:00:01\n")
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "speed": pa.float64()})
    >>> traffic = FileConnector.open(Source("traffic", schema, "file", {"path": "*.csv"}, event_time="ts"), base)
    >>> [lane] = traffic.lanes()
    >>> [decoded] = traffic.read(Split("traffic", lane.name, 0, lane.count()))
    >>> decoded.readings.to_pylist()
    [{'ts': datetime.datetime(2026, 1, 1, 0, 0), 'speed': 61.5}]
    >>> decoded.rejects["reason"].to_pylist()
    ["column speed: 'fast' is not DOUBLE"]
    """

    OPTIONS: ClassVar[tuple[Option, ...]] = FILE_OPTIONS

    definition: Source
    options: FileOptions
    files: tuple[StoredFile, ...]
    block_bytes: int
    unit_rows: int = MANY_ROWS

    @classmethod
    def check(cls, definition: Source) -> None:
        """Check the options; the files need not be there."""
        FileOptions.parse(definition.options)

    @classmethod
    def open(cls, definition: Source, base: Path) -> "FileConnector":
        """Find the files, from a directory on, and check that they fit the declaration."""
        options = FileOptions.parse(definition.options)
        paths = _find_files(options.path, base.absolute())
        _check_suffixes(options.path, paths)
        block_bytes = min(max(_ALL_BLOCKS_BYTES // len(paths), _LEAST_BLOCK_BYTES), _MOST_BLOCK_BYTES)
        connector = cls(definition, options, tuple(StoredFile.look_at(path) for path in paths), block_bytes)
        for lane in connector.lanes()[:_CHECKED_FILES]:
            lane.check()
        return connector

    def lanes(self) -> Sequence[FileLane]:
        """A lane a file."""
        return [self._lane(file) for file in self.files]

    def divide(self, unit_rows: int) -> "FileConnector":
        """Cut files into units of about so many readings, where their format has longer ones."""
        return replace(self, unit_rows=unit_rows)

    def read(self, split: Split) -> Iterator[Decoded]:
        """Decode a split, a unit at a time.

        Dead letters come with the first piece of their unit, those of readings that are ahead with the piece in which
        they stand.
        """
        if split.lane not in self._by_path:
            raise SourceError(f"unknown lane {split.lane!r} of {self.definition.name}; it has {len(self.files)} files")
        lane = self._lane(self._by_path[split.lane])
        for unit in range(split.start, split.stop):
            after = split.after if unit == split.start else None
            until = split.until if unit == split.stop - 1 else None
            found = _decode(lane, unit, until)
            lane.check_unchanged()  # after it was read: what is handed on is what was there
            ahead = self._mark_ahead(lane, unit, found.readings)
            start, stop = find_piece(found.readings, self.definition.event_time, after, until, ahead)
            readings, rejects = found.readings.slice(start, stop - start), found.rejects
            if after is not None:
                rejects = empty(REJECTS)
            if ahead is not None and ahead[start:stop].any():
                rows = start + np.flatnonzero(ahead[start:stop])
                rejects = join([rejects, self._reject_ahead(found, rows)], REJECTS)
                readings = readings.filter(pa.array(~ahead[start:stop]))
            yield Decoded(readings, rejects)

    @cached_property
    def _limit(self) -> AheadLimit | None:
        return AheadLimit.of(self.definition)

    def _mark_ahead(self, lane: FileLane, unit: int, readings: pa.RecordBatch) -> Bools | None:
        if self._limit is None or not readings.num_rows:
            return None
        return mark_ahead_readings(lane, unit, event_times(readings, str(self.definition.event_time)), self._limit)

    def _reject_ahead(self, unit: Unit, rows: Rows) -> pa.RecordBatch:
        """Make dead letters of readings that are ahead."""
        assert self._limit is not None
        column = str(self.definition.event_time)
        moments = event_times(unit.readings, column)[rows].tolist()
        return unit.reject(rows, [self._limit.explain(column, moment) for moment in moments])

    def inventory(self) -> str:
        """How many files, of how many bytes, and a digest of their names and sizes; the folder may have moved."""
        top = os.path.commonpath([os.path.dirname(file.path) for file in self.files])
        listed = [(os.path.relpath(file.path, top), file.size) for file in self.files]
        total = sum(size for _, size in listed)
        digest = hashlib.sha256(repr(listed).encode()).hexdigest()
        return f"{len(listed)} files of {total} bytes together, sha256 {digest[:16]}"

    @cached_property
    def _by_path(self) -> dict[str, StoredFile]:
        return {file.path: file for file in self.files}

    def _lane(self, file: StoredFile) -> FileLane:
        block_bytes = max(self._block_bytes, file.size // _MOST_BLOCKS)
        return self._format(file, self.definition, self.options, block_bytes, self.unit_rows)

    @property
    def _format(self) -> type[FileLane]:
        return _FORMATS[format_suffix(self.files[0].path)]

    @cached_property
    def _block_bytes(self) -> int:
        """How long a block of text is: of files that are read together, each has a share of a step."""
        filled = [file for file in self.files if file.size]
        if self.unit_rows == MANY_ROWS or not filled or not issubclass(self._format, TextLane):
            return self.block_bytes
        first = self._format(filled[0], self.definition, self.options, self.block_bytes)
        lines = max(1, self.unit_rows // min(len(filled), _FILES_AT_ONCE))
        return min(self.block_bytes, max(1, round(lines * first.guess_line_bytes())))


def _decode(lane: FileLane, unit: int, until: Micros | None) -> Unit:
    """Decode a unit, or where the format lets one stop, as much of it as arrives until a moment."""
    if until is not None and isinstance(lane, ParquetLane):
        return lane.decode_until(unit, until)
    return lane.decode(unit)


def _find_files(pattern: str, base: Path) -> list[str]:
    """List the files that a pattern matches; a name that is there is itself, whatever characters it has."""
    if (base / pattern).is_file():
        return [str(base / pattern)]
    found = [base / name for name in glob.glob(pattern, root_dir=base, recursive=True)]
    paths = sorted(str(path) for path in found if path.is_file())
    if not paths:
        hint = "; it is a directory, add '/*.csv' or the like" if (base / pattern).is_dir() else ""
        raise SourceError(f"no file matches {pattern!r} in {base}{hint}")
    return paths


def _check_suffixes(pattern: str, paths: Sequence[str]) -> None:
    """Refuse files of an unknown format, or of more than one."""
    unknown = [path for path in paths if format_suffix(path) not in _FORMATS]
    if unknown:
        known = f"{', '.join(_FORMATS)}, text also with {' or '.join(PACKED)} behind it"
        raise SourceError(f"{unknown[0]} has an unknown suffix; known are {known}")
    packed = [path for path in paths if is_packed(path) and not issubclass(_FORMATS[format_suffix(path)], TextLane)]
    if packed:
        raise SourceError(f"{packed[0]} is compressed twice: Parquet is compressed inside; unpack it")
    if len({_FORMATS[format_suffix(path)] for path in paths}) > 1:
        mixed = ", ".join(sorted({format_suffix(path) for path in paths}))
        raise SourceError(f"{pattern!r} matches files of different formats: {mixed}; a source has one")
