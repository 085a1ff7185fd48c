"""A queue in files, between two processes of which each may be killed at any moment: every message comes once.

    000000000000.queue   messages 0, 1, 2       000000000003.queue   messages 3, 4, ...

Messages are numbered. The reader keeps the number of the next one with whatever it makes of them: if it is killed, it
goes on from what it kept, and is given the same again. A writer that is killed, and does again what it had done, says
from which number on: what is there already is not written twice. A message that was cut short was never there.

Files outlive the death of both processes; ``synced`` ones a loss of power, too.
"""

import os
from bisect import bisect_right
from itertools import pairwise
from pathlib import Path

from skerry.errors import RunError
from skerry.fjord.queues.frame import HEADER_BYTES, Header, pack_message, read_header, unpack_message
from skerry.fjord.queues.message import Message
from skerry.model.atomic_write import sync

__all__ = ["TransactionalReader", "TransactionalWriter"]

_SUFFIX = ".queue"
_SEGMENT_BYTES = 64 << 20


class TransactionalWriter:
    """The end where messages go in; ``count`` is how many were put, in all."""

    is_full = False
    """It is on disk: who can fall behind by how much is for who uses it to say."""

    def __init__(self, folder: Path, *, synced: bool = False, segment_bytes: int = _SEGMENT_BYTES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._synced, self._segment_bytes = folder, synced, segment_bytes
        firsts = _list_firsts(folder)
        self.count = firsts[-1] if firsts else 0
        self._next = 0
        self._file, self._bytes = self._open(self.count)
        self._take_up()
        self.go_back(self.count)

    def go_back(self, number: int) -> None:
        """What is put next is message ``number`` again, and those after it."""
        self._next = number

    def put(self, message: Message) -> None:
        """Add at the end, unless it is there already."""
        if self._next == self.count:
            self._append(pack_message(message, self.count))
        self._next += 1

    def forget(self, number: int) -> None:
        """Remove files in which all messages are before one: the reader has kept that it is beyond them."""
        firsts = _list_firsts(self._folder)
        for first, following in pairwise(firsts):
            if following <= number:
                _path(self._folder, first).unlink()

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _append(self, data: bytes) -> None:
        try:
            if self._bytes >= self._segment_bytes:
                os.close(self._file)
                self._file, self._bytes = self._open(self.count)
            _write_all(self._file, data, self._bytes)
            if self._synced:
                os.fdatasync(self._file)
        except OSError as error:
            raise RunError(f"cannot write the queue {str(self._folder)!r}: {error.strerror}") from None
        self._bytes += len(data)
        self.count += 1

    def _open(self, first: int) -> tuple[int, int]:
        path = _path(self._folder, first)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        if self._synced:
            sync([path])
        return file, 0

    def _take_up(self) -> None:
        """Find the end of what an earlier writer has written, and cut off what it had only begun."""
        path = _path(self._folder, self.count)
        while header := _find_header(self._file, path, self._bytes, self.count):
            _read_message(self._file, path, self._bytes, header)
            self._bytes += HEADER_BYTES + header.length
            self.count += 1
        os.ftruncate(self._file, self._bytes)


class TransactionalReader:
    """The end where messages come out; ``position`` is the number of the next."""

    def __init__(self, folder: Path, position: int = 0) -> None:
        self._folder, self.position = folder, position
        self._file: int | None = None
        self._path, self._number, self._offset = folder, 0, 0

    def get(self) -> Message | None:
        """Take the next message; None if it has not been written yet."""
        while True:
            header = self._find()
            if header is None:
                return None
            offset, self._number = self._offset, self._number + 1
            self._offset += HEADER_BYTES + header.length
            if header.number == self.position:
                assert self._file is not None
                self.position += 1
                return _read_message(self._file, self._path, offset, header)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _find(self) -> Header | None:
        """The header at hand, in the next file if this one ends here."""
        if self._file is None and not self._open(self.position):
            return None
        assert self._file is not None
        found = _find_header(self._file, self._path, self._offset, self._number)
        if found is None and self._number > int(self._path.stem) and _path(self._folder, self._number).exists():
            self._open(self._number)
            found = _find_header(self._file, self._path, self._offset, self._number)
        return found

    def _open(self, number: int) -> bool:
        """Open the file that a message is in."""
        self.close()
        firsts = _list_firsts(self._folder)
        if firsts and firsts[0] > number:
            raise RunError(f"the queue {str(self._folder)!r} begins with message {firsts[0]}; {number} is gone")
        if not firsts:
            return False
        self._number, self._offset = firsts[bisect_right(firsts, number) - 1], 0
        self._path = _path(self._folder, self._number)
        self._file = os.open(self._path, os.O_RDONLY)
        return True


def _find_header(file: int, path: Path, offset: int, number: int) -> Header | None:
    """The header of a message that is there as a whole."""
    data = os.pread(file, HEADER_BYTES, offset)
    if len(data) < HEADER_BYTES:
        return None
    try:
        header = read_header(data)
    except RunError as error:
        raise RunError(f"{path}, byte {offset}: {error}") from None
    if header.number != number:
        raise RunError(f"{path}, byte {offset}: message {header.number} is where {number} is to be")
    return header if os.fstat(file).st_size >= offset + HEADER_BYTES + header.length else None


def _read_message(file: int, path: Path, offset: int, header: Header) -> Message:
    try:
        return unpack_message(header, os.pread(file, header.length, offset + HEADER_BYTES))
    except RunError as error:
        raise RunError(f"{path}, byte {offset}: {error}") from None


def _write_all(file: int, data: bytes, offset: int) -> None:
    """Write all bytes: the system may take a part of them."""
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def _list_firsts(folder: Path) -> list[int]:
    return sorted(int(path.stem) for path in folder.glob(f"*{_SUFFIX}"))


def _path(folder: Path, first: int) -> Path:
    return folder / f"{first:012}{_SUFFIX}"
