"""A queue that runs its writer when its reader wants something."""

from collections import deque
from collections.abc import Callable

from skerry.fjord.queues.message import Message

__all__ = ["PullQueue"]


class PullQueue:
    """``get`` gives its writer turns until there is a message, or the writer says that it has nothing to do.

    It is full while it holds a message, so the writer works no further ahead than one turn.

    >>> from skerry.fjord.queues.message import Advance
    >>> from skerry.model.time import Micros
    >>> moments = [3, 5]
    >>> queue = PullQueue()
    >>> def turn():
    ...     if moments:
    ...         queue.put(Advance(Micros(moments.pop())))
    ...         return True
    ...     return False
    >>> queue.pull_from(turn)
    >>> queue.get(), queue.get(), queue.get()
    (Advance(watermark=5, newest={}, heard={}), Advance(watermark=3, newest={}, heard={}), None)
    """

    def __init__(self) -> None:
        self._messages: deque[Message] = deque()
        self._turn: Callable[[], bool] = _do_nothing

    def pull_from(self, turn: Callable[[], bool]) -> None:
        """Name the writer's verb: it takes a turn, and says whether there was anything to do."""
        self._turn = turn

    @property
    def is_full(self) -> bool:
        """Whether there is a message that the reader has not taken."""
        return bool(self._messages)

    def put(self, message: Message) -> None:
        """Add at the end: one turn may give several messages."""
        self._messages.append(message)

    def get(self) -> Message | None:
        """Run the writer until it has given something; None if it has nothing to do."""
        while not self._messages:
            if not self._turn():
                return None
        return self._messages.popleft()


def _do_nothing() -> bool:
    return False
