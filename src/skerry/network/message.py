"""What motes say to each other. A message is plain data that cannot be changed, so motes share nothing else."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = ["HEADER_BYTES", "Kind", "Message", "count_bytes", "is_plain"]

HEADER_BYTES = 11
"""What a radio packet of a mote carries besides its payload: addresses, type, length, checksum (TinyOS)."""


class Kind(StrEnum):
    """What a message is for, as transmissions are counted. A repetition by the radio counts as ``retry``."""

    STORAGE = "storage"
    JOIN = "join"
    RESULT = "result"
    RETRY = "retry"
    CONTROL = "control"


@dataclass(frozen=True, slots=True)
class Message:
    """A body of numbers, texts and tuples of these; ``bytes`` is what its transmission takes, with the header."""

    kind: Kind
    body: tuple[Any, ...]
    bytes: int


def count_bytes(body: Any) -> int:
    """What a body takes packed: 2 bytes per small integer, 4 or 8 per larger one, 8 per float, texts as UTF-8.

    >>> count_bytes((7, "veh", (1.5, 100_000)))
    18
    """
    if isinstance(body, tuple):
        return sum(map(count_bytes, body))
    if isinstance(body, str):
        return 1 + len(body.encode())
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
    if type(body) is tuple:
        return all(map(is_plain, body))
    return body is None or type(body) in (int, float, str, bool, bytes)
