"""A queue between two processes, over a stream socket: what its writer puts is on its way at once.

The system holds a few hundred kilobytes of it; a writer that is ahead by more waits until the reader has caught up.
"""

import select
import socket

from skerry.fjord.queues.frame import HEADER_BYTES, pack_message, read_header, unpack_message
from skerry.fjord.queues.message import Message

__all__ = ["PipeClosed", "PipeReader", "PipeWriter"]

_AT_ONCE = 1 << 20


class PipeClosed(Exception):
    """The other end is gone."""


class PipeWriter:
    """The end where messages go in."""

    is_full = False
    """It waits by itself."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._number = end, 0

    def put(self, message: Message) -> None:
        """Send a message; ``PipeClosed`` if nobody is there to read it."""
        try:
            self._end.sendall(pack_message(message, self._number))
        except OSError:
            raise PipeClosed from None
        self._number += 1


class PipeReader:
    """The end where messages come out."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._number = end, 0

    def get(self) -> Message | None:
        """The next message; None if none has begun to come. ``PipeClosed`` if none will come any more."""
        return self.wait() if select.select([self._end], [], [], 0)[0] else None

    def wait(self) -> Message:
        """The next message, as soon as it is there."""
        header = read_header(self._read(HEADER_BYTES))
        message = unpack_message(header, self._read(header.length))
        assert header.number == self._number, "a message was lost on a stream that loses nothing"
        self._number += 1
        return message

    def _read(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            try:
                piece = self._end.recv(min(count - len(found), _AT_ONCE))
            except OSError:
                raise PipeClosed from None
            if not piece:
                raise PipeClosed
            found += piece
        return bytes(found)
