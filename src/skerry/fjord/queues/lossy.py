"""A queue between two processes that rather drops a message than let its writer wait, and counts what it dropped.

For readings that are worth little when they are late, over a link that is worth less than they are. Messages come in
order, each once or not at all.
"""

import socket

from skerry.errors import RunError
from skerry.fjord.queues.frame import HEADER_BYTES, pack_message, read_header, unpack_message
from skerry.fjord.queues.message import Message

__all__ = ["LossyReader", "LossyWriter", "open_lossy"]

_MOST_BYTES = 1 << 17


def open_lossy() -> tuple[socket.socket, socket.socket]:
    """The two ends of a link within this machine; over a network they are datagram sockets too."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)


class LossyWriter:
    """The end where messages go in. ``dropped`` counts those that found no room."""

    is_full = False
    """It never makes anybody wait."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end, self._number, self.dropped = end, 0, 0

    def put(self, message: Message) -> None:
        """Send a message if there is room for it now."""
        data = pack_message(message, self._number)
        if len(data) > _MOST_BYTES:
            raise RunError(f"a lossy queue takes messages of {_MOST_BYTES:,} bytes at most, got one of {len(data):,}")
        self._number += 1
        try:
            self._end.send(data)
        except (BlockingIOError, ConnectionRefusedError):  # no room, or nobody who reads
            self.dropped += 1


class LossyReader:
    """The end where messages come out. ``missed`` counts those that did not come, as far as later ones tell."""

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end, self._number, self.missed = end, 0, 0

    def get(self) -> Message | None:
        """The next message; None if none has come."""
        try:
            data = self._end.recv(_MOST_BYTES)
        except BlockingIOError:
            return None
        header = read_header(data[:HEADER_BYTES])
        self.missed += header.number - self._number
        self._number = header.number + 1
        return unpack_message(header, data[HEADER_BYTES:])
