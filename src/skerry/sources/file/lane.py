"""A file as a lane, whatever its format."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from zlib import crc32

import pyarrow as pa

from skerry.catalog import Source
from skerry.errors import SourceError
from skerry.model.arrays import Int64s
from skerry.model.time import START_OF_TIME, Micros
from skerry.sources.ahead import AheadLimit
from skerry.sources.file.conform import Rows
from skerry.sources.file.options import FileOptions
from skerry.sources.file.unpack import is_packed, open_text
from skerry.sources.source import Lane

__all__ = ["MANY_ROWS", "FileLane", "StoredFile", "Unit", "find_columns", "report_read_errors"]


_HEAD_BYTES = 1 << 12
MANY_ROWS = 2**62
"""As many rows as there are."""


@dataclass(frozen=True)
class StoredFile:
    """A file as it was when the source was opened: what is appended later is not read.

    ``checksum`` is that of its first bytes. It shows that a file is another one by now, on any machine: times and
    numbers of files differ between machines. Of a compressed file, ``size`` is that of the text, and ``packed_size``
    its own.
    """

    path: str
    size: int
    checksum: int
    packed_size: int | None = None

    @classmethod
    def look_at(cls, path: str) -> "StoredFile":
        """A file as it is now."""
        with report_read_errors(path), open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            checksum = crc32(file.read(min(size, _HEAD_BYTES)))
            if not is_packed(path):
                return cls(path, size, checksum)
            with open_text(path) as text:
                return cls(path, os.fstat(text.fileno()).st_size, checksum, size)

    def check_unchanged(self, *, may_grow: bool) -> None:
        """Refuse to go on with a file that has lost something, or is another one."""
        with report_read_errors(self.path), open(self.path, "rb") as file:
            stored = self.size if self.packed_size is None else self.packed_size
            size, head = os.fstat(file.fileno()).st_size, file.read(min(stored, _HEAD_BYTES))
        if size < stored or (size > stored and not (may_grow and self.packed_size is None)):
            raise SourceError(f"{self.path} has changed while it was read: it had {stored} bytes, now {size}")
        if crc32(head) != self.checksum:
            raise SourceError(f"{self.path} has changed while it was read: it begins with other bytes")


@dataclass(frozen=True)
class Unit:
    """A unit, decoded: readings in stored order, dead letters, and the way to make dead letters of readings."""

    readings: pa.RecordBatch
    rejects: pa.RecordBatch
    reject: Callable[[Rows, Sequence[str]], pa.RecordBatch]


class FileLane(Lane):
    """A file, cut into units. Planning asks for counts and times; reading decodes a unit."""

    may_grow = True
    """Whether what was there stays readable if something is appended."""

    def __init__(
        self, file: StoredFile, definition: Source, options: FileOptions, block_bytes: int, unit_rows: int = MANY_ROWS
    ) -> None:
        """``block_bytes`` is how long a unit of text is, ``unit_rows`` how many rows one has whose rows are counted."""
        self.name, self._unit_rows = file.path, unit_rows
        self._file, self._definition, self._options, self._block_bytes = file, definition, options, block_bytes
        self._limit = AheadLimit.of(definition)

    @property
    def schema(self) -> pa.Schema:
        """The columns that are stored."""
        return self._definition.stored_schema

    @abstractmethod
    def check(self) -> None:
        """Refuse a file that does not fit the declaration, before anything of it is read."""

    def check_unchanged(self) -> None:
        """Refuse to go on with a file that is not the one that was opened."""
        self._file.check_unchanged(may_grow=self.may_grow)

    @abstractmethod
    def decode(self, unit: int) -> Unit:
        """Read a whole unit."""

    @abstractmethod
    def times_before(self, unit: int, count: int) -> Int64s:
        """The event times of the last readings before a unit: so many, or all."""

    @abstractmethod
    def times_after(self, unit: int, count: int) -> Int64s:
        """The event times of the first readings behind a unit: so many, or all."""

    def first(self, unit: int) -> Micros:
        """The event time of a unit's first reading, or near it."""
        return self._stand_in_time(unit) if self._definition.event_time is None else self._find_ends(unit)[0]

    def last(self, unit: int) -> Micros:
        """The event time of a unit's last reading, or near it."""
        return self._stand_in_time(unit) if self._definition.event_time is None else self._find_ends(unit)[1]

    @abstractmethod
    def _find_ends(self, unit: int) -> tuple[Micros, Micros]:
        """Say when a unit begins and ends."""

    def _stand_in_time(self, unit: int) -> Micros:
        """Let units without a time come before all others, yet one after the other, so that a step holds a few."""
        return Micros(START_OF_TIME + 1 + unit)


def find_columns(path: str, declared: pa.Schema, found: Sequence[str]) -> list[int]:
    """Say where a file has the declared columns: by name, or else by name whatever the case and spaces.

    >>> find_columns("a.csv", pa.schema({"ts": pa.string(), "speed": pa.string()}), ["Speed", "lane", "ts"])
    [2, 0]
    """
    return [_find_column(path, name, found) for name in declared.names]


def _find_column(path: str, name: str, found: Sequence[str]) -> int:
    alike = [index for index, other in enumerate(found) if other.strip().casefold() == name.strip().casefold()]
    indices = [index for index in alike if found[index] == name] or alike
    if len(indices) == 1:
        return indices[0]
    reason = "has no column" if not indices else "has more than one column"
    raise SourceError(f"{path} {reason} {name!r}; it has {', '.join(found) or 'none'}{_suggest_delimiter(found)}")


def _suggest_delimiter(found: Sequence[str]) -> str:
    """What to do about a file whose columns were all taken for one.

    >>> _suggest_delimiter(["device;time;speed"]), _suggest_delimiter(["device", "time"])
    ("; are they apart by ';'? then set delimiter=';'", '')
    """
    for delimiter in (";", "\t", "|"):
        if len(found) == 1 and delimiter in found[0]:
            written = "\\t" if delimiter == "\t" else delimiter
            return f"; are they apart by '{written}'? then set delimiter='{written}'"
    return ""


@contextmanager
def report_read_errors(path: str) -> Iterator[None]:
    """Turn what goes wrong with a file into an error that names it."""
    try:
        yield
    except (OSError, pa.ArrowException) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise SourceError(f"cannot read {path}: {reason}") from problem
