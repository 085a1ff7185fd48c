"""Who runs next. One thread is enough: operators give control back after each message."""

from collections.abc import Sequence

import pyarrow as pa

from skerry.errors import LimitError
from skerry.fjord.queue import Message, Queue, Rows
from skerry.operators.operator import Operator

__all__ = ["Module", "RoundRobin"]


class Module:
    """An operator between two queues; what it gives is stream ``stream`` of its reader."""

    def __init__(self, operator: Operator, inbox: Queue, outbox: Queue, stream: int = 0) -> None:
        self.operator = operator
        self._inbox, self._outbox, self._stream = inbox, outbox, stream
        self.failure: str | None = None

    def turn(self) -> bool:
        """Take one message, if there is one; say whether there was."""
        message = self._inbox.get()
        if message is None:
            return False
        if self.failure is None:
            try:
                self._work(message)
            except LimitError as error:
                self.failure = str(error)
        return True

    def _work(self, message: Message) -> None:
        if isinstance(message, Rows):
            self._emit(self.operator.transition(message.batch, message.stream))
        else:
            self._emit(self.operator.advance(message.watermark))
            self._outbox.put(message)

    def _emit(self, made: pa.RecordBatch) -> None:
        if made.num_rows:
            self._outbox.put(Rows(made, self._stream))


class RoundRobin:
    """Gives every module a turn, again and again, until none has anything to do."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = tuple(modules)

    def run(self) -> None:
        """Work until all queues are empty."""
        while sum(module.turn() for module in self._modules):
            pass
