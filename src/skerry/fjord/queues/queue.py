"""What all queues have in common, whether their ends are in one process or in two.

A queue has one writer and one reader. Messages come out in the order in which they went in, as they were.

| kind | its writer | its reader | used |
| --- | --- | --- | --- |
| push | is told when it is full | takes what is there | before a view, and behind it |
| pull | is run by ``get`` | gets a message, or hears that there is none | between the operators of a view |
| pipe | waits when it is far ahead | may be in another process | what processes tell each other, and answers |
| lossy | never waits: what finds no room is dropped, and counted | may be in another process | in experiments |
| transactional | may die | may die, and is in another process | rows for another process |
"""

from typing import Protocol

from skerry.fjord.queues.message import Message

__all__ = ["Queue", "Reader", "Writer"]


class Writer(Protocol):
    """The end where messages go in."""

    @property
    def is_full(self) -> bool:
        """Whether its writer must wait."""

    def put(self, message: Message) -> None:
        """Add at the end; it must not be full."""


class Reader(Protocol):
    """The end where messages come out."""

    def get(self) -> Message | None:
        """Take from the front; None if there is nothing, for an operator never waits."""


class Queue(Writer, Reader, Protocol):
    """Both ends, for queues within a process."""
