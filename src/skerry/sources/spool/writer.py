"""Writes a spool: a frame is on disk when ``append`` comes back, whatever happens then."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from skerry.errors import RunError, SourceError
from skerry.model.atomic_write import sync
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.sources.spool.frame import HEADER_BYTES, MARK, has_frame, is_whole, pack_frame, read_header, read_note
from skerry.sources.spool.segments import describe_damage, list_segments, segment_path

__all__ = ["SpoolWriter", "read_time", "tell_time"]

_SEGMENT_BYTES = 64 << 20
_TIME = "time"
_SEGMENT_FRAMES = 4_096
"""Readers look at the headers of a segment one by one."""


def read_time(folder: Path) -> Micros:
    """Until when all that has come is on disk, as the writer of a spool says."""
    try:
        found = (folder / _TIME).read_bytes()
    except FileNotFoundError:
        return START_OF_TIME
    moment = int.from_bytes(found)
    if moment > END_OF_TIME:
        raise SourceError(f"{folder / _TIME} is damaged: {found[:16]!r} is no moment")
    return Micros(moment)


def tell_time() -> Micros:
    """The clock of this machine."""
    return Micros(time.time_ns() // 1_000)


class SpoolWriter:
    """The only writer of a spool.

    ``notes`` are what the frames so far have noted, by name: the first frame of a segment repeats them all, so that the
    last segment is enough to know them. ``segment_bytes`` is how long a segment gets.
    """

    def __init__(self, folder: Path, segment_bytes: int = _SEGMENT_BYTES) -> None:
        self._folder, self._segment_bytes = folder, segment_bytes
        self.notes: dict[str, Any] = {}
        self._file: int | None = None
        self._time_file: int | None = None
        self._first = self._frames = self._offset = 0
        self._last_us = Micros(0)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._open_last()
        except OSError as error:
            raise RunError(f"cannot use the spool {folder}: {error.strerror}") from None

    def __enter__(self) -> "SpoolWriter":
        """Go on where the last writer has stopped."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the segment."""
        self.close()

    @property
    def count(self) -> int:
        """How many frames there are."""
        return self._first + self._frames

    def append(self, received: pa.RecordBatch, time_us: Micros, note: Mapping[str, Any] | None = None) -> None:
        """Bring a frame to disk, and let readers see it. All that comes in later frames has arrived after its time."""
        self._last_us = Micros(max(time_us, self._last_us))
        self.notes |= note or {}
        try:
            self._roll_if_full()
            data = pack_frame(received, self._last_us, self._choose_note(note))
            self._write(data)
        except OSError as error:
            self._cut_off()
            raise RunError(f"cannot write the spool {self._folder}: {error.strerror}") from None

    def note_time(self, time_us: Micros) -> None:
        """Let readers know that all that has come until then is on disk."""
        self._last_us = Micros(max(time_us, self._last_us))
        if self._time_file is None:
            self._time_file = os.open(self._folder / _TIME, os.O_WRONLY | os.O_CREAT, 0o600)
        os.pwrite(self._time_file, self._last_us.to_bytes(8), 0)

    def close(self) -> None:
        """Let go of the segment."""
        for descriptor in (self._file, self._time_file):
            if descriptor is not None:
                os.close(descriptor)
        self._file = self._time_file = None

    def _cut_off(self) -> None:
        """Leave nothing of a frame that could not be written."""
        if self._file is not None:
            os.ftruncate(self._file, self._offset)

    def _choose_note(self, note: Mapping[str, Any] | None) -> Mapping[str, Any]:
        return self.notes if self._frames == 0 else note or {}

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        _write_all(self._file, data, self._offset)
        os.fdatasync(self._file)
        _write_all(self._file, MARK, self._offset)
        self._offset, self._frames = self._offset + len(data), self._frames + 1

    def _roll_if_full(self) -> None:
        """Begin a segment where there is none, or the last is long enough."""
        is_full = self._offset >= self._segment_bytes or self._frames >= _SEGMENT_FRAMES
        if self._file is not None and not is_full:
            return
        if self._file is not None:
            os.close(self._file)
        self._first, self._frames, self._offset = self.count, 0, 0
        self._file = os.open(segment_path(self._folder, self._first), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        sync([segment_path(self._folder, self._first)])

    def _open_last(self) -> None:
        """Find the end of the last segment: frames that are whole are valid, what is behind them was never."""
        firsts = list_segments(self._folder)
        if not firsts:
            return
        self._first = firsts[-1]
        self._file = os.open(segment_path(self._folder, self._first), os.O_RDWR)
        while self._take_up_frame():
            pass
        rest = os.pread(self._file, os.fstat(self._file).st_size - self._offset, self._offset)
        if has_frame(rest):  # a crash breaks off the last frame alone
            raise RunError(describe_damage(segment_path(self._folder, self._first), self._offset))
        os.ftruncate(self._file, self._offset)
        os.fsync(self._file)

    def _take_up_frame(self) -> bool:
        assert self._file is not None
        header = read_header(os.pread(self._file, HEADER_BYTES, self._offset), self._offset)
        if header is None:
            return False
        data = os.pread(self._file, header.end - header.offset - HEADER_BYTES, header.offset + HEADER_BYTES)
        if not is_whole(header, data):
            if header.is_marked:
                raise RunError(describe_damage(segment_path(self._folder, self._first), header.offset))
            return False
        _write_all(self._file, MARK, header.offset)
        self.notes |= read_note(header, data)
        self._offset, self._frames, self._last_us = header.end, self._frames + 1, header.time_us
        return True


def _write_all(descriptor: int, data: bytes, offset: int) -> None:
    """Write all bytes: the system may take a part of them."""
    view = memoryview(data)
    while view:
        written = os.pwrite(descriptor, view, offset)
        view, offset = view[written:], offset + written
