"""Queues between operators: they carry rows and the passing of time, and change neither."""

from collections import deque
from dataclasses import dataclass

import pyarrow as pa

from skerry.model.time import Micros

__all__ = ["Advance", "Message", "Queue", "Rows"]


@dataclass(frozen=True)
class Rows:
    """A batch on its way, and which of the reader's streams it belongs to."""

    batch: pa.RecordBatch
    stream: int = 0


@dataclass(frozen=True)
class Advance:
    """No row before ``watermark`` will follow."""

    watermark: Micros


Message = Rows | Advance


class Queue:
    """A push queue: first in, first out, one reader.

    >>> queue = Queue()
    >>> queue.put(Advance(Micros(5)))
    >>> queue.get(), queue.get()
    (Advance(watermark=5), None)
    """

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()

    def put(self, message: Message) -> None:
        """Add at the end."""
        self._messages.append(message)

    def get(self) -> Message | None:
        """Take from the front; None if there is nothing, for an operator never waits."""
        return self._messages.popleft() if self._messages else None
