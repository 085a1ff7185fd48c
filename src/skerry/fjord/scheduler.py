"""Who runs next. One thread is enough: operators give control back after each message."""

from collections.abc import Sequence

import pyarrow as pa

from skerry.fjord.queue import Queue, Rows
from skerry.operators.operator import Operator

__all__ = ["Module", "RoundRobin"]


class Module:
    """An operator between two queues."""

    def __init__(self, operator: Operator, inbox: Queue, outbox: Queue) -> None:
        self._operator, self._inbox, self._outbox = operator, inbox, outbox

    def turn(self) -> bool:
        """Take one message, if there is one; say whether there was."""
        message = self._inbox.get()
        if message is None:
            return False
        if isinstance(message, Rows):
            self._emit(self._operator.transition(message.batch))
        else:
            self._emit(self._operator.advance(message.watermark))
            self._outbox.put(message)
        return True

    def _emit(self, made: pa.RecordBatch) -> None:
        if made.num_rows:
            self._outbox.put(Rows(made))


class RoundRobin:
    """Gives every module a turn, again and again, until none has anything to do."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = tuple(modules)

    def run(self) -> None:
        """Work until all queues are empty."""
        while sum(module.turn() for module in self._modules):
            pass
