"""A spool as files: segments, each named by the number of its first frame, one behind the other.

    000000000000.spool   frames 0, 1, 2        000000000003.spool   frames 3, 4, ...

Frames are numbered without a gap. Readers find new ones by looking behind the last they know; they need no word from
the writer, who may be another process on another machine.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from skerry.errors import SourceError
from skerry.sources.spool.frame import HEADER_BYTES, Header, is_whole, read_body, read_header

__all__ = ["Segments", "describe_damage", "list_segments", "segment_path"]

_SUFFIX = ".spool"


def segment_path(folder: Path, first: int) -> Path:
    """Where the segment is whose first frame has this number."""
    return folder / f"{first:012}{_SUFFIX}"


def describe_damage(path: Path, offset: int) -> str:
    """The words for a segment that is not as it was written."""
    return f"{path} is damaged at byte {offset}: what is there is not what was written"


class Segments:
    """The frames of a spool, as far as a reader has seen them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._firsts: list[int] = []
        self._headers: dict[int, list[Header]] = {}

    @property
    def first(self) -> int:
        """The number of the first frame that is still there."""
        return self._firsts[0] if self._firsts else 0

    def count(self) -> int:
        """How many frames were written so far, with those that are gone by now."""
        if not self._firsts:
            self._firsts = list_segments(self._folder)[:1]
        while self._firsts:
            last = self._firsts[-1]
            self._look_behind(last)
            following = last + len(self._headers[last])
            if following == last or not segment_path(self._folder, following).exists():
                return following
            self._firsts.append(following)
        return 0

    def check(self, frame: int) -> None:
        """Raise if the frames from one on are not there: a reader would wait for them, or pass over new ones."""
        listed = list_segments(self._folder)
        count = self.count()
        if behind := [first for first in listed if first > count]:
            self._raise_gap(count, behind[0])
        if frame > count:
            gone = f"the spool {self._folder} has {count} frames, and the checkpoint goes on from frame {frame}"
            raise SourceError(f"{gone}: what is there is not what was written; start anew with another checkpoint")
        if count and frame < self.first:
            self._find_segment(frame)

    def _raise_gap(self, count: int, following: int) -> None:
        last = self._firsts[-1]
        path, end = segment_path(self._folder, last), self._headers[last][-1].end if self._headers[last] else 0
        if path.stat().st_size > end:
            raise SourceError(describe_damage(path, end))
        raise SourceError(f"the spool {self._folder} has no frames {count} to {following - 1} any more")

    def header(self, frame: int) -> Header:
        """The header of a frame."""
        first = self._find_segment(frame)
        return self._headers[first][frame - first]

    def read(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """What frames ``start`` to ``stop``, exclusive, hold."""
        frame = start
        while frame < stop:
            first = self._find_segment(frame)
            path, headers = segment_path(self._folder, first), self._headers[first]
            upto = min(stop - first, len(headers))
            with open(path, "rb") as file:
                for header in headers[frame - first : upto]:
                    yield _read_frame(file.fileno(), path, header)
            frame = first + upto

    def forget(self, frame: int, kept_rows: int) -> None:
        """Remove segments whose frames are all before one, but for the last with so many readings together.

        The very last stays in any case: the writer is at it, and it tells how many there were.
        """
        self.count()
        rows = 0
        for index in range(len(self._firsts) - 1, -1, -1):
            first = self._firsts[index]
            is_last = index == len(self._firsts) - 1
            if not is_last and rows >= kept_rows and first + len(self._headers[first]) <= frame:
                self._drop(index + 1)
                return
            rows += sum(header.rows for header in self._headers[first])

    def _drop(self, count: int) -> None:
        """Remove the first segments, oldest first, so that those that are left follow one another."""
        for first in self._firsts[:count]:
            segment_path(self._folder, first).unlink(missing_ok=True)
            del self._headers[first]
        del self._firsts[:count]

    def _find_segment(self, frame: int) -> int:
        if not self._firsts or frame >= self._firsts[-1] + len(self._headers.get(self._firsts[-1], ())):
            self.count()  # it may have come since
        index = bisect_right(self._firsts, frame) - 1
        if index < 0:
            there = f"it begins with {self.first}" if self._firsts else "it is empty"
            raise SourceError(f"the spool {self._folder} has no frame {frame} any more; {there}")
        first = self._firsts[index]
        if frame - first >= len(self._headers[first]):
            raise SourceError(f"the spool {self._folder} has no frame {frame}; it has {self.count()} frames")
        return first

    def _look_behind(self, first: int) -> None:
        """Take up what was appended to a segment."""
        headers = self._headers.setdefault(first, [])
        path, offset = segment_path(self._folder, first), headers[-1].end if headers else 0
        with open(path, "rb") as file:
            while (header := read_header(os.pread(file.fileno(), HEADER_BYTES, offset), offset)) and header.is_marked:
                headers.append(header)
                offset = header.end


def list_segments(folder: Path) -> list[int]:
    """The numbers of the first frames of all segments."""
    return sorted(int(path.stem) for path in folder.glob(f"*{_SUFFIX}"))


def _read_frame(descriptor: int, path: Path, header: Header) -> pa.RecordBatch:
    data = os.pread(descriptor, header.end - header.offset - HEADER_BYTES, header.offset + HEADER_BYTES)
    if not is_whole(header, data):
        raise SourceError(describe_damage(path, header.offset))
    return read_body(header, data)
