"""Who runs next. One thread is enough: operators give control back after each message."""

from collections.abc import Sequence

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
        is_rows = isinstance(message, Rows)
        made = self._operator.transition(message.batch) if is_rows else self._operator.advance(message.watermark)
        if made.num_rows:
            self._outbox.put(Rows(made))
        if not is_rows:
            self._outbox.put(message)
        return True


class RoundRobin:
    """Gives every module a turn, again and again, until none has anything to do."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self._modules = tuple(modules)

    def run(self) -> None:
        """Work until all queues are empty."""
        while sum(module.turn() for module in self._modules):
            pass
