"""A queue that its writer fills."""

from collections import deque

from skerry.errors import RunError
from skerry.fjord.queues.message import Message, Rows

__all__ = ["PushQueue"]


class PushQueue:
    """First in, first out, bounded by rows: a full one tells its writer so, and takes nothing.

    It is full when it holds ``capacity`` rows or more; a message is never split, so it may hold more by one message.
    Without a capacity it is never full. The passing of time takes no room.

    >>> from skerry.fjord.queues.message import Advance
    >>> from skerry.model.time import Micros
    >>> queue = PushQueue()
    >>> queue.put(Advance(Micros(5)))
    >>> queue.get(), queue.get()
    (Advance(watermark=5, newest={}, heard={}), None)
    """

    def __init__(self, capacity: int | None = None) -> None:
        self._messages: deque[Message] = deque()
        self._capacity, self._rows = capacity, 0

    def __len__(self) -> int:
        """How many messages wait."""
        return len(self._messages)

    @property
    def is_full(self) -> bool:
        """Whether its writer must wait."""
        return self._capacity is not None and self._rows >= self._capacity

    def put(self, message: Message) -> None:
        """Add at the end. The passing of time is taken always: it follows the rows that made the queue full."""
        if self.is_full and _count_rows(message):
            raise RunError(f"a queue of {self._capacity} rows is full; its writer must wait until some are read")
        self._rows += _count_rows(message)
        self._messages.append(message)

    def get(self) -> Message | None:
        """Take from the front; None if there is nothing."""
        if not self._messages:
            return None
        message = self._messages.popleft()
        self._rows -= _count_rows(message)
        return message


def _count_rows(message: Message) -> int:
    return message.batch.num_rows if isinstance(message, Rows) else 0
