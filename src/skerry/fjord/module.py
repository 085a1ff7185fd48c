"""An operator between two queues."""

from typing import Protocol

import pyarrow as pa

from skerry.fjord.queues.message import Advance, Rows
from skerry.fjord.queues.queue import Reader, Writer
from skerry.model.time import Micros

__all__ = ["Module", "Transitions"]


class Transitions(Protocol):
    """What a module runs: an operator, or a view at work."""

    def transition(self, batch: pa.RecordBatch, stream: int = 0) -> pa.RecordBatch:
        """Take a batch of one of its streams in, give what follows from it."""

    def advance(self, watermark: Micros) -> pa.RecordBatch:
        """Learn how far time has come, give what is settled by that."""


class Module:
    """An operator that takes from one queue and gives to another. What it makes of a stream is that stream's still."""

    def __init__(self, operator: Transitions, inbox: Reader, outbox: Writer) -> None:
        self.operator = operator
        self._inbox, self._outbox = inbox, outbox

    def turn(self) -> bool:
        """Take one message, if there is one and room for what follows from it; say whether that was so."""
        message = None if self._outbox.is_full else self._inbox.get()
        if message is None:
            return False
        if isinstance(message, Rows):
            self._emit(self.operator.transition(message.batch, message.stream), message.stream)
        else:
            if isinstance(message, Advance):
                self._emit(self.operator.advance(message.watermark), 0)
            self._outbox.put(message)
        return True

    def _emit(self, made: pa.RecordBatch, stream: int) -> None:
        if made.num_rows:
            self._outbox.put(Rows(made, stream))
