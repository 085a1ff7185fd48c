"""Reads CBOR that comes from outside: whole, not deep, and no longer than it looks."""

import re
from collections.abc import Mapping
from io import BytesIO
from typing import Any

import cbor2

__all__ = ["NO_CBOR", "read_cbor"]

NO_CBOR = "not valid CBOR"
_MOST_DEPTH = 32
_REFERENCE = re.compile(rb"(?:\xd8|\xd9\0|\xda\0{3}|\xdb\0{7})[\x19\x1d]", re.DOTALL)
"""Tags 25 and 29: a value that stood before is meant once more. A few bytes can stand for gigabytes so."""


def read_cbor(payload: bytes, longest: int = 1 << 20, depth: int = _MOST_DEPTH) -> Any:
    r"""What a payload says. A ``ValueError`` says why it is none, or becomes too long when references are followed.

    >>> read_cbor(b"\xa1\x61a\x05"), read_cbor(b"\xd9\xd9\xf7\xa1\x61a\x05")
    ({'a': 5}, {'a': 5})
    >>> read_cbor(b"\xa1\x61a\x05\x05")
    Traceback (most recent call last):
    ValueError: not valid CBOR: more bytes behind its end
    """
    stream = BytesIO(payload)
    try:
        said = _thaw(cbor2.CBORDecoder(stream, max_depth=depth).decode())
    except Exception as error:  # a decoder has many ways to fail on bytes from outside; the reason is told
        raise ValueError(_explain(error)) from None
    if stream.tell() != len(payload):
        raise ValueError(f"{NO_CBOR}: more bytes behind its end")
    if _REFERENCE.search(payload) and _count(said, longest) > longest:
        raise ValueError(f"CBOR whose references make more than {longest} bytes of it")
    return said


def _explain(error: Exception) -> str:
    said = " ".join(str(error).split())
    return f"{NO_CBOR}: {said[:200]}" if said else NO_CBOR


def _thaw(said: Any) -> Any:
    """A mapping with a tag around it is a mapping."""
    return dict(said) if isinstance(said, Mapping) else said


def _count(said: Any, most: int) -> int:
    """About how many bytes a value has, counted until it is more than so many; one that holds itself has no end."""
    total, waiting = 0, [said]
    while waiting and total <= most:
        value = waiting.pop()
        total += 1
        if isinstance(value, str | bytes):
            total += len(value)
        elif isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            waiting += value
    return total
