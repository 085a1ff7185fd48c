"""What motes say to each other. A message is plain data that cannot be changed, so motes share nothing else."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from skerry.errors import InputError

__all__ = ["HEADER_BYTES", "Kind", "Message", "count_bytes", "is_plain"]

HEADER_BYTES = 11
"""What a radio packet of a mote carries besides its payload: addresses, type, length, checksum (TinyOS)."""

_PLAIN = frozenset((int, float, str, bool, bytes, type(None)))


class Kind(StrEnum):
    """What a message is for, as transmissions are counted. A repetition by the radio counts as ``retry``."""

    STORAGE = "storage"
    JOIN = "join"
    RESULT = "result"
    RETRY = "retry"
    CONTROL = "control"

    __hash__ = str.__hash__  # that of enumerations is a call in Python, and every transmission is counted by kind


@dataclass(frozen=True, slots=True)
class Message:
    """A body of numbers, texts, bytes and tuples of these; ``bytes`` is what its transmission takes, with the header.

    >>> Message(Kind.JOIN, (1, [2]), 15)
    Traceback (most recent call last):
    skerry.errors.InputError: a message holds numbers, texts, bytes and tuples of these; got (1, [2])
    """

    kind: Kind
    body: tuple[Any, ...]
    bytes: int

    def __post_init__(self) -> None:
        """Refuse what a mote could change after it was sent."""
        if not is_plain(self.body):
            raise InputError(f"a message holds numbers, texts, bytes and tuples of these; got {self.body!r}")


def count_bytes(body: Any) -> int:
    """What a body takes packed: 2 bytes per small integer, 4 or 8 per larger one, 8 per float, texts as UTF-8, bytes.

    >>> count_bytes((7, "veh", (1.5, 100_000)))
    18
    """
    if isinstance(body, tuple):
        return sum(map(count_bytes, body))
    if isinstance(body, str):
        return 1 + len(body.encode())
    if isinstance(body, bytes):
        return 1 + len(body)
    if isinstance(body, bool) or body is None:
        return 1
    if isinstance(body, int):
        return 2 if -(1 << 15) <= body < 1 << 15 else 4 if -(1 << 31) <= body < 1 << 31 else 8
    return 8


def is_plain(body: Any) -> bool:
    """Whether a body is made of values that nobody can change.

    >>> is_plain((1, "a", (None, 2.5))), is_plain(([],))
    (True, False)
    """
    if type(body) is not tuple:
        return type(body) in _PLAIN
    return all(type(value) in _PLAIN or is_plain(value) for value in body)
