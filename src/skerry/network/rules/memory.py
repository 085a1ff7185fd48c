"""What a mote remembers of the past, and for how long: after that no message can speak of it any more."""

from collections import deque
from collections.abc import Callable
from typing import Any

from skerry.network.mote import Board

__all__ = ["Memory"]


class Memory:
    """Has things forgotten ``keep_us`` after they are over, the next time that the mote does something.

    No timer is needed for that, so a run is not longer for it, and a mote that rests does not wake.
    """

    def __init__(self, board: Board, keep_us: int) -> None:
        self._board, self._keep_us = board, keep_us
        self._due: deque[tuple[int, Callable[..., object], tuple[Any, ...]]] = deque()

    def forget_later(self, action: Callable[..., object], *arguments: Any) -> None:
        """Have something done when it is safe."""
        self._due.append((self._board.clock + self._keep_us, action, arguments))

    def tidy(self) -> None:
        """Forget what is due."""
        now = self._board.clock
        while self._due and self._due[0][0] <= now:
            _, action, arguments = self._due.popleft()
            action(*arguments)
