"""Who runs next. One thread is enough: operators give control back after each message."""

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from skerry.fjord.queue import Queue, Rows
from skerry.model.time import Micros

__all__ = ["Module", "RoundRobin", "Transitions"]


class Transitions(Protocol):
    """What a module runs: an operator, or a view at work."""

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take a batch in, give what follows from it."""

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Learn how far time has come, give what is settled by that."""


class Module:
    """An operator between two queues; what it gives is stream ``stream`` of its reader."""

    def __init__(self, operator: Transitions, inbox: Queue, outbox: Queue, stream: int = 0) -> None:
        self.operator = operator
        self._inbox, self._outbox, self._stream = inbox, outbox, stream

    def turn(self) -> bool:
        """Take one message, if there is one; say whether there was."""
        message = self._inbox.get()
        if message is None:
            return False
        if isinstance(message, Rows):
            self._emit(self.operator.transition(message.batch, message.stream))
        else:
            self._emit(self.operator.advance(message.watermark))
            self._outbox.put(message)
        return True

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
